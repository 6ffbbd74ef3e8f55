import { createContext, useContext } from "react"
import type { WaitAnswers } from "./use-wait-answers"

/** What the rows of a transcript need besides their own item; stable while text streams, so that rows stay memoised. */
export type SessionContextValue = {
  agentName: string
  answers: WaitAnswers
  folds: Map<string, boolean>
  /** Gives the agent back the memory that a fresh start put aside. */
  undoFresh: () => void
  /** Types a line into the terminal it ended in. */
  runAgain: (workerId: string, command: string) => void
  hasTerminal: (workerId: string) => boolean
}

const Context = createContext<SessionContextValue | null>(null)
export const SessionProvider = Context.Provider

export function useSessionContext(): SessionContextValue {
  const value = useContext(Context)
  if (!value) throw new Error("A transcript row was rendered outside its session.")
  return value
}

import { type Conversation, type Json, type Tool, userTexts } from "./conversation"
import { shellCall } from "./shell-tool"

export type Reply =
  /** `hold_every`: after so many pieces, each time, it waits until the test lets it go on. */
  | { kind: "text"; pieces: string[]; pause_ms: number; hold_every?: number }
  | { kind: "call"; tool: Tool; args: Json }
  | { kind: "error"; status: number }

/** The pause between the pieces of a slow answer. */
const SLOW_PIECE_MS = 100
/** The same for an answer that is held: it lasts as long as the test wants, so its pieces need not be slow. */
const HELD_PIECE_MS = 20

/** What this model answers: decided by the last thing the person said, and by nothing else it knows. Pure. */
export function reply(conversation: Conversation): Reply {
  const last = userTexts(conversation).at(-1) ?? ""
  const failure = /\bFAIL WITH (\d{3})\b/.exec(last)?.[1]
  if (failure) return { kind: "error", status: Number(failure) }
  const slowly = /\bCOUNT SLOWLY TO (\d+)\b/.exec(last)?.[1]
  if (slowly) return { kind: "text", pieces: numbersTo(Number(slowly)), pause_ms: SLOW_PIECE_MS }
  const [, to, hold_every] = /\bCOUNT TO (\d+), HOLD EVERY (\d+)\b/.exec(last) ?? []
  if (to && hold_every) return { kind: "text", pieces: numbersTo(Number(to)), pause_ms: HELD_PIECE_MS, hold_every: Number(hold_every) }
  const command = /\bRUN `([^`]+)`/.exec(last)?.[1]
  if (!command) return say(`You said: ${last}`)
  const result = conversation.said.at(-1)
  if (result?.role === "tool") return say(`The command answered: ${result.text.trim()}`)
  const call = shellCall(conversation.tools, command)
  return call ? { kind: "call", ...call } : say("I have no shell.")
}

const numbersTo = (last: number): string[] => Array.from({ length: last }, (_, i) => `${i + 1} `)
const say = (words: string): Reply => ({ kind: "text", pieces: words.match(/\S+\s*/g) ?? [words], pause_ms: 0 })

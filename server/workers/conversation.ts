import { randomUUID } from "node:crypto"
import type { AgentFile } from "../../lib/contracts/agentctl/archive"
import type { PtyConversation, PtyState } from "../../lib/contracts/agentctl/ptys"
import type { TerminalAgent, TerminalProgram } from "../agents"
import type { Worker } from "../platform/database"

/** A tab's conversation before a process is started in it. */
export type TabConversation = PtyConversation & {
  /** An agent has run in it, in this place. */
  ran: boolean
  /** It left traces of more than one conversation, and nobody knows which was its own. */
  unclear: boolean
  /** It was made a moment ago, and nothing was said in it. */
  made?: boolean
}
type Way = { args: string[]; label: string; needs: AgentFile[] }
type Plan = Omit<Way, "needs"> & { rather: Way[] }

/**
 * What the daemon knows of its latest process goes before the row, which follows it: a server killed between the two must not make
 * a tab go on with a conversation it has left. Of a place that was put away and restored, the row is all there is.
 */
export function conversationOf(
  worker: Pick<Worker, "conversation_id" | "forked_from">,
  pty: PtyState | null,
  { isConversation }: Pick<TerminalAgent, "isConversation">,
): TabConversation {
  const known = pty?.conversation ?? { id: worker.conversation_id, forked_from: worker.forked_from, unclear: false }
  // Any other name would be an option of its command line: it counts as unknown.
  const named = (name: string | null) => (name !== null && isConversation(name) ? name : null)
  return { ...known, id: named(known.id), forked_from: named(known.forked_from), ran: pty !== null && pty.epoch > 0 }
}

/** The name is chosen before the agent is started, where it takes one: then nothing that dies can lose it. */
export const newConversation = (program: TerminalProgram, forked_from: string | null): PtyConversation => ({
  id: (forked_from === null ? program.begin : (program.fork ?? [])).some((word) => word.includes("{id}"))
    ? (program.newId ?? randomUUID)()
    : null,
  forked_from,
})

/**
 * How a tab's agent is started: its own conversation, else the copy it is to begin with, else the newest of its folder if it is known
 * to have had one, else a new one. The label says which. Pure.
 */
export function planStart(program: TerminalProgram, tab: TabConversation, filesOf: (id: string) => AgentFile[]): Plan {
  const fill = (words: readonly string[]) =>
    words.map((word) => word.replaceAll("{id}", tab.id ?? "").replaceAll("{from}", tab.forked_from ?? ""))
  const ways: Way[] = []
  if (tab.id !== null && program.again !== null) {
    const needs = filesOf(tab.id)
    // Without a file to look for, only that it ran before speaks for there being something to go on with.
    if (needs.length > 0 || tab.ran || program.make)
      ways.push({ args: fill(program.again), label: tab.made ? "new conversation" : "conversation continued", needs })
  }
  if (tab.id === null && tab.ran && program.newest !== null && (tab.unclear || !program.traces))
    ways.push({ args: fill(program.newest), label: "newest conversation of this folder", needs: [] })
  if (tab.forked_from !== null && program.fork !== null)
    ways.push({ args: fill(program.fork), label: "conversation forked", needs: filesOf(tab.forked_from) })
  ways.push({ args: fill(program.begin), label: "new conversation", needs: [] })
  const last = ways.findIndex(({ needs }) => needs.length === 0)
  const { args, label } = ways[last] as Way
  return { args, label, rather: ways.slice(0, last) }
}

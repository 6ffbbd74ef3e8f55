import type { Attachment } from "@/lib/contracts/attachments"
import { readStored, writeStored } from "./stored"

/** A message that was sent but not yet seen in the log. Its id makes sending it again the same send. */
export type Unsent = {
  readonly clientMessageId: string
  readonly text: string
  readonly attachments?: readonly Attachment[]
  /** `expired`: the task was put away. It waits for a person's decision, and nothing sends it by itself. */
  readonly state: "sending" | "accepted" | "unreachable" | "refused" | "expired"
  readonly sentence: string | null
  /** When the task was last active, as the server that refused it said: anything later means that it is back. */
  readonly expiredSince?: string
}

const keyOf = (sessionId: string) => `rewake.outbox.${sessionId}`

export function readOutbox(sessionId: string): Unsent[] {
  try {
    const stored = JSON.parse(readStored(keyOf(sessionId)) ?? "[]") as Unsent[]
    // A reload cut the request off: whether it arrived is unknown, sending again is safe.
    return stored.map((entry) => (entry.state === "sending" ? { ...entry, state: "unreachable" } : entry))
  } catch {
    return []
  }
}

export const writeOutbox = (sessionId: string, entries: readonly Unsent[]) =>
  writeStored(keyOf(sessionId), entries.length === 0 ? null : JSON.stringify(entries))

export const withEntry = (entries: readonly Unsent[], entry: Unsent): Unsent[] =>
  entries.some((e) => e.clientMessageId === entry.clientMessageId)
    ? entries.map((e) => (e.clientMessageId === entry.clientMessageId ? entry : e))
    : [...entries, entry]

export const withoutEntry = (entries: readonly Unsent[], clientMessageId: string): Unsent[] =>
  entries.filter((e) => e.clientMessageId !== clientMessageId)

/** `crypto.randomUUID` is missing on plain http, except on localhost. */
export const newClientMessageId = () =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("")

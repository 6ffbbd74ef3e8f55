import { useCallback, useEffect, useState } from "react"
import type { Attachment } from "@/lib/contracts/attachments"
import { taskExpired } from "../error-parser"
import { errorSentence } from "../error-sentence"
import { useConnection, useServerTrouble } from "../hooks"
import { newClientMessageId, readOutbox, type Unsent, withEntry, withoutEntry, writeOutbox } from "../outbox"
import { isServerTrouble } from "../server-trouble"
import type { Prompt } from "../transcript-items"
import { NetworkError } from "../transport"
import { appendMessage } from "./session"

type Message = Pick<Unsent, "clientMessageId" | "text" | "attachments">
const messageOf = ({ clientMessageId, text, attachments = [] }: Unsent): Message => ({ clientMessageId, text, attachments })

const isSeen = (entry: Unsent, prompts: ReadonlyMap<string, Prompt>) => {
  for (const prompt of prompts.values()) if (prompt.clientMessageId === entry.clientMessageId) return true
  return false
}

/** What may have arrived, or will be taken later, is sent again by itself; what was refused waits for the user. */
function whatBecameOf(error: unknown): Pick<Unsent, "state" | "sentence"> {
  if (error instanceof NetworkError)
    return { state: "unreachable", sentence: `${error.message} It is kept here, and sent once the connection is back.` }
  if (isServerTrouble(error)) return { state: "unreachable", sentence: "It is kept here, and sent once the server can save it." }
  return { state: "refused", sentence: errorSentence(error) }
}

/** Sends messages so that none is lost and none is sent twice: each is kept here until the log shows it. */
export function useOutbox(taskId: number, sessionId: string, prompts: ReadonlyMap<string, Prompt>) {
  const [entries, setEntries] = useState<Unsent[]>([])
  /** Whose entries these are: right after another session was opened they are still those of the one before. */
  const [loadedFor, setLoadedFor] = useState<string | null>(null)
  const [sent, setSent] = useState(0)
  const connection = useConnection()
  const { recoveries } = useServerTrouble()
  useEffect(() => {
    setEntries(readOutbox(sessionId))
    setLoadedFor(sessionId)
  }, [sessionId])

  const change = useCallback(
    (how: (entries: readonly Unsent[]) => Unsent[]) =>
      setEntries((before) => {
        const after = how(before)
        writeOutbox(sessionId, after)
        return after
      }),
    [sessionId],
  )

  const attempt = useCallback(
    async ({ clientMessageId, text, attachments = [] }: Message) => {
      const note = (how: Pick<Unsent, "state" | "sentence" | "expiredSince">) =>
        change((all) => withEntry(all, { clientMessageId, text, attachments, ...how }))
      note({ state: "sending", sentence: null })
      const brought = attachments.length > 0 ? { attachments: attachments.map(({ id }) => id) } : {}
      try {
        await appendMessage(taskId, { message: text, ...brought, session_id: sessionId, client_message_id: clientMessageId })
        note({ state: "accepted", sentence: null })
      } catch (error) {
        const expired = taskExpired(error)
        if (expired) return note({ state: "expired", sentence: null, expiredSince: expired.last_updated_at })
        note(whatBecameOf(error))
      }
    },
    [change, taskId, sessionId],
  )

  const discard = useCallback((clientMessageId: string) => change((all) => withoutEntry(all, clientMessageId)), [change])

  useEffect(() => {
    if (entries.some((entry) => isSeen(entry, prompts))) change((all) => all.filter((entry) => !isSeen(entry, prompts)))
  }, [entries, prompts, change])

  useEffect(() => {
    if (connection !== "connected" || loadedFor !== sessionId) return
    for (const entry of entries) if (entry.state === "unreachable") void attempt(entry)
  }, [connection, recoveries, loadedFor, attempt])

  return {
    entries: entries.filter((entry) => !isSeen(entry, prompts)),
    sent,
    send: (text: string, attachments: readonly Attachment[] = []) => {
      setSent((n) => n + 1)
      return attempt({ clientMessageId: newClientMessageId(), text, attachments })
    },
    retry: (entry: Unsent) => attempt(entry),
    discard,
    /** Sent in another way, whose answer was lost: kept, and sent again under its id. */
    markUnreachable: (entry: Unsent, sentence: string) =>
      change((all) => withEntry(all, { ...messageOf(entry), state: "unreachable", sentence })),
    markAccepted: (entry: Unsent) => change((all) => withEntry(all, { ...messageOf(entry), state: "accepted", sentence: null })),
  }
}

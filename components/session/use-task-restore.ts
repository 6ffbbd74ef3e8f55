import { useRouter } from "next/navigation"
import { useEffect, useState } from "react"
import type { DraftAttachments } from "@/components/attachments/use-draft-attachments"
import { changeKept, messageWords } from "@/lib/client/attachments"
import { errorSentence } from "@/lib/client/error-sentence"
import { plural } from "@/lib/client/format"
import type { useOutbox } from "@/lib/client/queries/outbox"
import { useRestorePreview, useRestoreTask } from "@/lib/client/queries/restore"
import type { SessionFeedHandle } from "@/lib/client/queries/session-feed"
import { readStored, writeStored } from "@/lib/client/stored"
import { type Asked, isBack, isPutAway, restoreStage } from "@/lib/client/task-restore"
import { NetworkError } from "@/lib/client/transport"
import type { Attachment } from "@/lib/contracts/attachments"
import type { SessionView, TaskView } from "@/lib/contracts/task"

type Given = {
  taskId: number
  sessionId: string
  task: TaskView | undefined
  session: SessionView | undefined
  expired: boolean
  feed: SessionFeedHandle
  outbox: ReturnType<typeof useOutbox>
  draft: string
  setDraft: (text: string) => void
  attachments: DraftAttachments
}

/** The decision about a task that was put away: messages it refused wait here until a person has chosen. */
export function useTaskRestore(given: Given) {
  const { taskId, sessionId, task, session, expired, feed, outbox, draft, setDraft, attachments } = given
  const router = useRouter()
  const { transcript } = feed
  const { mutate, reset, ...request } = useRestoreTask(taskId)
  const waiting = outbox.entries.filter((entry) => entry.state === "expired")
  const [shownSince, setShownSince] = useState<string | null>(null)
  const [askedAt, setAskedAt] = useState(0)

  const lastActive = task?.last_activity_at ?? ""
  const refusedSince = waiting[0]?.expiredSince ?? null
  useEffect(() => {
    if (refusedSince !== null) setShownSince((since) => since ?? refusedSince)
  }, [refusedSince])

  const shown = shownSince !== null
  const restoring = transcript.comeback?.state === "under_way"
  const preview = useRestorePreview(
    taskId,
    sessionId,
    shown || restoring || expired || (session ? isPutAway(session.executor_status) : false),
  )

  const asked: Asked = request.isPending
    ? { state: "pending" }
    : request.error
      ? { state: "refused", error: request.error }
      : request.data
        ? { state: "accepted", rebuilt: request.data.executor_rebuilt, sinceSeq: askedAt }
        : { state: "no" }
  const back = shown && task !== undefined && session !== undefined && isBack(task, session, refusedSince ?? shownSince)
  const stage = restoreStage(asked, transcript.comeback, back)

  const close = () => {
    setShownSince(null)
    reset()
  }
  const sendWaiting = async () => {
    for (const entry of waiting) await outbox.retry(entry)
  }
  const over = shown && stage.kind === "over"
  // It ends once, with what was waiting in that moment.
  useEffect(() => {
    if (!over) return
    close()
    void sendWaiting()
  }, [over])

  const takeBack = () => {
    for (const entry of waiting) outbox.discard(entry.clientMessageId)
    return { text: waiting.map((entry) => entry.text).join("\n\n"), brought: waiting.flatMap((entry) => entry.attachments ?? []) }
  }
  const [first] = waiting
  return {
    preview,
    progress: restoring ? (preview?.progress ?? null) : null,
    open: () => setShownSince(lastActive),
    dialog: !shown
      ? null
      : {
          stage,
          preview,
          messages: [
            ...transcript.queue.filter((prompt) => prompt.held === null).map((prompt) => messageWords(prompt.text, prompt.attachments)),
            ...outbox.entries
              .filter((entry) => entry.state === "expired" || entry.state === "accepted")
              .map((entry) => messageWords(entry.text, entry.attachments)),
          ],
          conversation: conversationWords(feed),
          onContinue: () => {
            setAskedAt(transcript.lastSeq)
            const brought = first?.attachments?.length ? { attachments: first.attachments.map(({ id }) => id) } : {}
            const message = first ? { message: first.text, ...brought, client_message_id: first.clientMessageId } : {}
            mutate({ session_id: sessionId, ...message }, { onSuccess: () => first && outbox.markAccepted(first) })
          },
          onNewChat: () => {
            startElsewhere(takeBack(), task, session)
            close()
            router.push("/tasks/new")
          },
          onClose: () => {
            const lost = request.isPending || request.error instanceof NetworkError
            if (lost && first) outbox.markUnreachable(first, request.error ? errorSentence(request.error) : "No answer came yet.")
            else if (waiting.length > 0) {
              const { text, brought } = takeBack()
              setDraft([text, draft].filter(Boolean).join("\n\n"))
              attachments.giveBack(brought)
            }
            close()
          },
        },
  }
}

function conversationWords({ transcript, hasOlder }: SessionFeedHandle): string | null {
  const said = transcript.items.filter((item) => item.type === "user" || item.type === "agent").length
  return said === 0 ? null : hasOlder ? `more than ${said} messages` : plural(said, "message")
}

/** A new task like the old one, the message in its composer; what was being written there is kept below it. */
function startElsewhere(
  { text, brought }: { text: string; brought: Attachment[] },
  task: TaskView | undefined,
  session: SessionView | undefined,
): void {
  const begun = readStored("rewake.draft.new") ?? ""
  writeStored("rewake.draft.new", [text, begun].filter(Boolean).join("\n\n") || null)
  changeKept("rewake.draft.new", (kept) => [...brought, ...kept])
  if (task) {
    writeStored("rewake.last-type", task.type)
    if (task.repository) writeStored("rewake.draft.new.repository", task.repository)
  }
  if (session) writeStored("rewake.last-agent", session.agent)
}

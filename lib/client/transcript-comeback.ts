import type { SessionEvent } from "@/lib/contracts/events"
import type { Draft } from "./transcript-draft"
import type { Waking } from "./transcript-items"

/** Follows a task that was put away back to work: asked for, on its way, there or failed. Its next archive begins anew. */
export function noticeComeback(draft: Draft, event: SessionEvent): void {
  const { comeback } = draft
  switch (event.kind) {
    case "executor.deleted":
      draft.comeback = null
      return
    case "restore.requested":
      draft.comeback = { state: "under_way", seq: event.seq, archived: event.archive_id !== null }
      return
  }
  if (!comeback || comeback.state === "done") return
  const { archived } = comeback
  switch (event.kind) {
    case "executor.starting":
      draft.comeback = { state: "under_way", seq: event.seq, archived }
      return
    case "executor.error":
      draft.comeback = {
        state: "failed",
        seq: event.seq,
        archived,
        trouble: { of: "executor", reason: event.reason, message: event.message },
      }
      return
    case "resume.failed":
      if (event.retryable) return
      draft.comeback = {
        state: "failed",
        seq: event.seq,
        archived,
        trouble: { of: "agent", reason: "resume_failed", message: event.reason },
      }
      return
    case "archive.restored":
      // Tried again, an agent that does not start finds its files there already.
      draft.comeback = { ...comeback, archived: false }
      return
    case "agent.started":
    case "run.started":
      draft.comeback = { state: "done", seq: event.seq, archived }
      return
    case "session.state_changed":
      if (event.to === "WAITING_FOR_INPUT" && event.cause !== "restored") draft.comeback = { state: "done", seq: event.seq, archived }
      return
  }
}

/** Whether the files are still to come out of an archive. */
export const unpacks = ({ comeback }: Draft): boolean => comeback !== null && comeback.state !== "done" && comeback.archived

/** An archive is unpacked before the executor is ready: when exactly it began is not in the log, so both are one step. */
export function startWaking(draft: Draft, ts: string): Waking {
  const restores = unpacks(draft)
  const steps = [{ name: restores ? ("files" as const) : ("executor" as const), at: ts, doneAt: null }]
  return restores ? { first: false, restores, steps } : { first: draft.processesSince === null, steps }
}

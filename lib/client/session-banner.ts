import { interruptionSentence } from "@/lib/contracts/sentences"
import type { InterruptionReason, SessionStatusReport } from "@/lib/contracts/status"
import type { SessionView } from "@/lib/contracts/task"
import type { Transcript, Waking } from "./transcript-items"

/** What the strip above the transcript says; at most one thing at a time, the most pressing. */
export type Banner =
  | { kind: "waking"; waking: Waking }
  | { kind: "woken"; waking: Waking }
  | { kind: "interrupted"; runId: string; sentence: string }
  | { kind: "not_resumable" }
  | { kind: "error"; sentence: string; details: string | null }
  | { kind: "silent" }

type Facts = {
  session: SessionView | undefined
  report: SessionStatusReport | undefined
  transcript: Transcript
  /** The run whose interruption the reader has put aside. */
  dismissedRun: string | null
  /** A waking that ended a moment ago. */
  justWoken: Waking | null
}

export function pickBanner({ session, report, transcript, dismissedRun, justWoken }: Facts): Banner | null {
  if (transcript.waking) return { kind: "waking", waking: transcript.waking }
  if (justWoken) return { kind: "woken", waking: justWoken }
  if (!session) return null
  if (session.state === "ERROR" || session.executor_status === "error" || report?.resume_reason === "workspace_missing") {
    return { kind: "error", sentence: errorWords(report, transcript), details: transcript.trouble?.message ?? null }
  }
  if (session.executor_status === "unknown" || report?.executor_status === "unknown") return { kind: "silent" }
  if (report?.resume_reason === "not_resumable" && !report.is_resumable) return { kind: "not_resumable" }
  const interrupted = transcript.interrupted
  if (interrupted && interrupted.runId !== dismissedRun && !transcript.run) {
    return { kind: "interrupted", runId: interrupted.runId, sentence: sentenceOf(interrupted.reason) }
  }
  return null
}

const sentenceOf = (reason: InterruptionReason): string => interruptionSentence[reason] ?? "This run was interrupted."

function errorWords(report: SessionStatusReport | undefined, { trouble }: Transcript): string {
  if (report?.resume_reason === "workspace_missing") return "The workspace of this session is missing. The transcript is kept."
  return trouble?.of === "agent"
    ? "The agent of this session could not be started. Transcript, queue and files are kept."
    : "The executor of this session failed. The transcript and the queue are kept."
}

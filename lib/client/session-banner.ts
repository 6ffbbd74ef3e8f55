import type { SessionSetup, SignInWay } from "@/lib/contracts/agent-setup"
import type { RestorePreview } from "@/lib/contracts/restore"
import { interruptionSentence } from "@/lib/contracts/sentences"
import type { InterruptionReason, SessionStatusReport } from "@/lib/contracts/status"
import type { SessionView, StartPlace } from "@/lib/contracts/task"
import { isPutAway, troubleSentence } from "./task-restore"
import type { Transcript, Waking } from "./transcript-items"

/** What the strip above the transcript says; at most one thing at a time, the most pressing. */
export type Banner =
  | { kind: "waking"; waking: Waking }
  | { kind: "woken"; waking: Waking }
  | { kind: "interrupted"; runId: string; sentence: string }
  | { kind: "not_resumable" }
  | { kind: "sign_in"; details: string; methods: readonly SignInWay[] }
  | { kind: "error"; sentence: string; details: string | null; abandonable: boolean }
  | { kind: "on_other_server" }
  /** As many agents run as may, and none of them is idle. */
  | { kind: "waits_to_start"; place: StartPlace }
  /** `abandoned`: a person gave it up; it still holds its place. */
  | { kind: "silent"; abandoned: boolean }
  /** Put away or expired: only a person's word brings it back. */
  | { kind: "asleep"; files: RestorePreview["files"] | undefined }

type Facts = {
  session: SessionView | undefined
  report: SessionStatusReport | undefined
  transcript: Transcript
  /** The run whose interruption the reader has put aside. */
  dismissedRun: string | null
  /** A waking that ended a moment ago. */
  justWoken: Waking | null
  expired?: boolean
  preview?: RestorePreview | undefined
  /** The agent is not signed in: its words and its ways. */
  signIn?: SessionSetup["sign_in"]
}

export function pickBanner({ session, report, transcript, dismissedRun, justWoken, expired, preview, signIn }: Facts): Banner | null {
  if (transcript.waking) return { kind: "waking", waking: transcript.waking }
  if (justWoken) return { kind: "woken", waking: justWoken }
  if (!session) return null
  if (session.on_other_server || report?.on_other_server) return { kind: "on_other_server" }
  // What was asked before it was put away may still say that the files are there.
  if (isPutAway(session.executor_status)) return { kind: "asleep", files: preview?.files.kind === "kept" ? undefined : preview?.files }
  if (signIn && !transcript.run) return { kind: "sign_in", details: signIn.message, methods: signIn.methods }
  if (session.state === "ERROR" || session.executor_status === "error" || report?.resume_reason === "workspace_missing") {
    const { trouble, abandoned } = transcript
    const abandonable = trouble?.of === "executor" && ABANDONABLE.has(trouble.reason) && !abandoned
    return { kind: "error", sentence: errorWords(report, transcript), details: trouble?.message ?? null, abandonable }
  }
  if (session.executor_status === "unknown" || report?.executor_status === "unknown") {
    return { kind: "silent", abandoned: transcript.abandoned }
  }
  if (session.start_place) return { kind: "waits_to_start", place: session.start_place }
  if (report?.resume_reason === "not_resumable" && !report.is_resumable) return { kind: "not_resumable" }
  const interrupted = transcript.interrupted
  if (interrupted && interrupted.runId !== dismissedRun && !transcript.run) {
    return { kind: "interrupted", runId: interrupted.runId, sentence: sentenceOf(interrupted.reason) }
  }
  return expired && !transcript.run ? { kind: "asleep", files: preview?.files } : null
}

/** Retried by itself, and given up only on a user's word. */
const ABANDONABLE = new Set(["unreachable", "not_reconciled"])

const sentenceOf = (reason: InterruptionReason): string => interruptionSentence[reason] ?? "This run was interrupted."

function errorWords(report: SessionStatusReport | undefined, { trouble, comeback }: Transcript): string {
  if (comeback?.state === "failed" && comeback.archived)
    return `This task could not be brought back yet. ${troubleSentence(comeback.trouble)} Transcript and queue are kept.`
  if (report?.resume_reason === "workspace_missing") return "The workspace of this session is missing. The transcript is kept."
  if (trouble?.reason === "not_reconciled")
    return "This session could not be recovered. Transcript and queue are kept. Retrying automatically."
  return trouble?.of === "agent"
    ? "The agent of this session could not be started. Transcript, queue and files are kept."
    : "The executor of this session failed. The transcript and the queue are kept."
}

import { isAppError } from "@/lib/contracts/errors"
import type { LeftOut } from "@/lib/contracts/left-out"
import type { RestorePreview, RestoreProgress } from "@/lib/contracts/restore"
import type { ExecutorStatus } from "@/lib/contracts/status"
import type { SessionView, TaskView } from "@/lib/contracts/task"
import { errorSentence } from "./error-sentence"
import { formatBytes, formatHours, formatMoment, plural } from "./format"
import { leftOutLines } from "./left-out-words"
import { lookUp } from "./look-up"
import type { Comeback, Trouble } from "./transcript-items"
import { NetworkError } from "./transport"

/** How an expired task comes back, as far as the page can tell. Pure: the dialog, the strip and the tests ask here. */

export const isPutAway = (status: ExecutorStatus) => status === "deleted" || status === "reaping"

/** Something happened in the task since it was refused: whoever did it, it can be written to again. */
export const isBack = (task: TaskView, session: SessionView, since: string) =>
  task.last_activity_at > since && !isPutAway(session.executor_status)

/** What this page asked for, and what it was told. `sinceSeq`: only what the log says after it is news of it. */
export type Asked =
  | { state: "no" }
  | { state: "pending" }
  | { state: "accepted"; rebuilt: boolean; sinceSeq: number }
  | { state: "refused"; error: unknown }

export type RestoreStage =
  | { kind: "asking" }
  | { kind: "asked" }
  | { kind: "restoring" }
  | {
      kind: "failed"
      sentence: string
      /** `kept`: the server has the message, queued. `here`: only this page has it. `unknown`: the answer was lost. */
      message: "kept" | "here" | "unknown"
      retryable: boolean
    }
  | { kind: "over" }

export function restoreStage(asked: Asked, comeback: Comeback | null, back: boolean): RestoreStage {
  if (asked.state === "pending") return { kind: "asked" }
  if (asked.state === "refused") return refusal(asked.error)
  const news = comeback && comeback.seq > (asked.state === "accepted" ? asked.sinceSeq : 0) ? comeback : null
  if (news?.state === "failed") return { kind: "failed", sentence: troubleSentence(news.trouble), message: "kept", retryable: true }
  if (news?.state === "done") return { kind: "over" }
  if (news) return { kind: "restoring" }
  if (asked.state === "accepted") return { kind: asked.rebuilt ? "restoring" : "over" }
  return { kind: back ? "over" : "asking" }
}

function refusal(error: unknown): RestoreStage {
  const code = isAppError(error) ? error.code : null
  // Somebody was first, and not by a restore: the task can be written to as it is.
  if (code === "TASK_NOT_RESTORABLE") return { kind: "over" }
  const lost = error instanceof NetworkError
  return {
    kind: "failed",
    sentence: errorSentence(error),
    message: lost ? "unknown" : "here",
    retryable: code !== "SESSION_NOT_RESUMABLE",
  }
}

const reasons: Record<string, string> = {
  store_unreachable: "The place where archives are kept could not be reached.",
  archive_missing: "The archive of this task is not where it was put.",
  checksum_mismatch: "The archive is damaged: it is not what was put away.",
  broken_archive: "The archive is damaged and cannot be read.",
  hostile_archive: "The archive holds something that must not be unpacked.",
  unsupported_archive: "The archive was written in a format this server does not know.",
  too_large: "The files of this task are larger than this server allows.",
  disk_full: "There is no room left on the disk for the files of this task.",
  daemon_unreachable: "The executor does not answer.",
  history_missing: "The repository no longer has the commits that this task was based on.",
}
export const troubleSentence = ({ of, reason, message }: Trouble): string =>
  lookUp(reasons, reason) ?? (of === "agent" ? `The files are back, but the agent could not be started: ${message}` : message)

/** "This code task was last active …": why the dialog asks at all. */
export function expiryWords({ task_type, last_updated_at, expire_hours, files }: RestorePreview, now: number): string {
  const kind = task_type === "code" ? "Code" : "Chat"
  const active = `This ${task_type} task was last active ${formatMoment(last_updated_at, now)}.`
  const kept = `${kind} tasks are kept ready for ${formatHours(expire_hours)}`
  return files.kind === "kept" ? `${active} ${kept}. Nothing was put away yet.` : `${active} ${kept}, so its executor was put away.`
}

export type ComesBack = { what: string; how: string; comes: boolean; names?: string }

/** What will be there again, item by item; what will not is said as well. */
export function comesBack(preview: RestorePreview, messages: string | null, now: number): ComesBack[] {
  const { files, memory } = preview
  return [
    filesLine(files, now),
    memory === "none"
      ? { what: "The agent's memory", how: "starts anew", comes: false }
      : { what: memory === "injected" ? "Memory, from the conversation" : "The agent's own memory", how: memory, comes: true },
    ...(messages === null ? [] : [{ what: "Conversation", how: messages, comes: true }]),
    ...(files.kind === "kept" ? [] : [{ what: "Running programs", how: "ended", comes: false }]),
    ...(files.kind === "archive" ? notArchived(files.left_out) : []),
  ]
}

function notArchived(leftOut: LeftOut | null): ComesBack[] {
  if (leftOut === null)
    return [{ what: "Ignored files, links out of the workspace", how: "not recorded by an earlier version", comes: false }]
  return leftOutLines(leftOut).map(({ what, names, how }) => ({
    ...{ what, names, comes: false },
    how: how === "" ? "not archived" : `not archived, ${how}`,
  }))
}

function filesLine(files: RestorePreview["files"], now: number): ComesBack {
  switch (files.kind) {
    case "kept":
      return { what: "Files", how: "still there", comes: true }
    case "archive":
      return {
        what: `Files from the archive of ${formatMoment(files.created_at, now)}`,
        how: `${plural(files.files, "file")} · ${formatBytes(files.bytes)}`,
        comes: true,
      }
    case "recreated":
      return { what: `Files of branch ${files.branch}`, how: "committed ones only", comes: true }
    case "lost":
      return { what: "Files", how: "lost, no archive", comes: false }
  }
}

const phases: Record<RestoreProgress["phase"], string> = {
  downloading: "Fetching the archive",
  unpacking: "Restoring files",
  verifying: "Verifying files",
}
/** "Restoring files, 132 of 214 · 23.6 of 38 MB". */
export function progressWords(progress: RestoreProgress): string {
  const { phase, files, total_files, bytes, total_bytes } = progress
  const counted = phase !== "downloading" && total_files > 0 ? `, ${files} of ${total_files}` : ""
  return `${phases[phase]}${counted}${total_bytes > 0 ? ` · ${formatBytes(bytes)} of ${formatBytes(total_bytes)}` : ""}`
}

export const progressPercent = ({ bytes, total_bytes, files, total_files }: RestoreProgress): number => {
  const share = total_bytes > 0 ? bytes / total_bytes : total_files > 0 ? files / total_files : 0
  return Math.round(Math.min(1, Math.max(0, share)) * 100)
}

/** For a screen reader: the phase and tenths of the way, so that it is told of progress and not of every file. */
export const progressSpoken = (progress: RestoreProgress) =>
  `${phases[progress.phase]}, ${Math.floor(progressPercent(progress) / 10) * 10} percent`

/** The strip over a task that was put away. */
export function asleepWords(files: RestorePreview["files"] | undefined, now: number): string {
  switch (files?.kind) {
    case undefined:
      return "This task is asleep."
    case "kept":
      return "This task is asleep. Its files are still there."
    case "archive":
      return `This task is asleep. Its files are in the archive of ${formatMoment(files.created_at, now)}.`
    case "recreated":
      return `This task is asleep. What it committed is on branch ${files.branch}.`
    case "lost":
      return "This task is asleep. Its files were let go without an archive; the conversation is kept."
  }
}

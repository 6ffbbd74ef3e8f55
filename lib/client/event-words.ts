import type { EventOf } from "@/lib/contracts/events"
import type { InterruptionReason } from "@/lib/contracts/status"
import type { Outcome, WaitOption } from "@/lib/contracts/waits"
import { formatSpan, plural } from "./format"
import { leftOutWords } from "./left-out-words"

/** Facts of the log as words, the same in the transcript and on the timeline. */
export const interruptionWords: Record<InterruptionReason, string> = {
  process_restart: "the server restarted",
  executor_lost: "its executor went away",
  delivery_uncertain: "delivery uncertain, nothing was sent twice",
  wait_timeout: "nobody answered in time",
  token_invalid: "the question could no longer be answered",
  abandoned: "given up, its executor could not be reached",
}

type Receipt = EventOf<"recovery.receipt">

export function filesWords(files: Receipt["files"]): string {
  if (typeof files === "string") return `files ${files}`
  if ("archive" in files) return `${plural(files.archive.files, "file")} verified${leftOutWords(files.archive.left_out)}`
  if ("recreated" in files) return `files from branch ${files.recreated.branch}`
  return `${plural(files.lost.paths.length, "file")} lost`
}

/** An agent that came back without memory was started, not resumed; nothing here may say otherwise. */
export function receiptVerb({ receipt_kind, agent_memory }: Pick<Receipt, "receipt_kind" | "agent_memory">): string {
  if (receipt_kind === "recover") return "Recovered"
  if (receipt_kind === "restore") return "Restored"
  return agent_memory === "none" ? "Started anew" : "Resumed"
}

export function receiptWords(receipt: Receipt): string[] {
  const ended = receipt.processes.filter((process) => process.outcome === "ended").map((process) => process.what)
  return [
    `memory: ${receipt.agent_memory}`,
    formatSpan(receipt.took_ms),
    filesWords(receipt.files),
    ...(ended.length > 0 ? [`${ended.join(", ")} ended`] : []),
  ]
}

export const answerWords = (outcome: Outcome, options: readonly WaitOption[] = []): string =>
  outcome.kind === "cancelled" ? "cancelled" : (options.find((option) => option.id === outcome.option_id)?.label ?? outcome.option_id)

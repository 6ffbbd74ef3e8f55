import type { AdminArchives } from "@/lib/contracts/admin"
import { formatMoment } from "./format"
import { troubleSentence } from "./task-restore"

export type KeptArchive = AdminArchives["archives"][number]
export type DueArchive = AdminArchives["due"][number]

const blocks: Record<string, string> = {
  unreachable: "its executor does not answer: nothing is decided until it does",
  restoring: "is being brought back",
}

/** What becomes of an expired executor next, and whether that needs somebody's eye. */
export function dueWords({ blocked, failures, next_try_at }: DueArchive, now: number): { words: string; trouble: boolean } {
  if (blocked === null)
    return { words: failures > 0 ? `tried again in the next round, after ${times(failures)}` : "goes in the next round", trouble: false }
  if (blocked === "archive_failed") {
    const again = next_try_at ? `, tried again ${formatMoment(next_try_at, now)}` : ""
    return { words: `failed ${times(failures)}${again}; its executor is kept`, trouble: true }
  }
  return { words: blocks[blocked] ?? blocked.replaceAll("_", " "), trouble: blocked !== "restoring" }
}

const times = (n: number) => (n === 1 ? "once" : `${n} times`)

/** Kept as "reason: message"; a known reason has a sentence of its own. */
export function archiveErrorSentence(error: string): string {
  const [, reason = "", message = ""] = /^([a-z_]+): (.*)$/s.exec(error) ?? []
  if (reason === "") return error || "No reason was given."
  return reason === "internal" ? message : troubleSentence({ of: "executor", reason, message })
}

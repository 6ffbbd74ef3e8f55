import type { LeftOut, LeftOutGroup, LeftOutReason } from "@/lib/contracts/left-out"
import { formatBytes, formatCount, plural } from "./format"

/** What an archive left out, in words: the same in the dialog before a restore and in its receipt. */
const leftOutReasons: Record<LeftOutReason, string> = {
  ignored: "Ignored by git",
  outward_link: "Links out of the workspace",
  special_file: "Sockets, pipes and devices",
  unreadable: "Not readable",
  vanished: "Removed while archiving",
  credentials: "The agent's credentials",
  git_state: "Git operations in progress",
  git_settings: "Git's configuration and hooks",
  agent_command: "Conversations the agent did not export",
  refused_name: "Names like those of git's own files",
  terminal_output: "Earlier output of terminals",
  other: "Others",
}
/** More names would push what comes back out of sight. */
const NAMES_SHOWN = 3
const NAME_CHARS = 60

export type LeftOutLine = { what: string; names: string; how: string }

/** What an archive does not hold, one line for each reason: "Ignored by git", "node_modules/ (12,345 files), dist/ and 3 more", "210 MB". */
export const leftOutLines = (leftOut: LeftOut): LeftOutLine[] =>
  leftOut.map((group) => ({
    what: leftOutReasons[group.reason],
    names: namesOf(group),
    how: group.bytes === null || group.bytes === 0 ? "" : formatBytes(group.bytes),
  }))

const leftOutCount = (leftOut: LeftOut | undefined): number => (leftOut ?? []).reduce((sum, { count }) => sum + count, 0)

/** Said with every count of an archive's files: a count alone would look like all there was. */
export function leftOutWords(leftOut: LeftOut | undefined): string {
  const count = leftOutCount(leftOut)
  return count > 0 ? `, ${formatCount(count)} not archived` : ""
}

function namesOf({ names, count }: LeftOutGroup): string {
  const shown = names
    .slice(0, NAMES_SHOWN)
    .map(({ path, files }) => (files === null ? asText(path) : `${asText(path)} (${plural(files, "file")})`))
  const more = count - shown.length
  if (shown.length === 0) return plural(count, "entry", "entries")
  return more > 0 ? `${shown.join(", ")} and ${formatCount(more)} more` : shown.join(", ")
}

/** A stranger's file name: nothing invisible, nothing that turns round the text beside it, and no longer than a line. */
function asText(path: string): string {
  const text = path.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, "�")
  if (text.length <= NAME_CHARS) return text
  const half = Math.floor(NAME_CHARS / 2)
  return `${text.slice(0, half)}…${text.slice(-half)}`
}

import type { CommentView } from "../../lib/contracts/workspace"

type Comment = Pick<CommentView, "path" | "side" | "line" | "line_text" | "content">

/** What an agent is told: each comment with its file, its line and what that line says, since lines move while it works. */
export function commentsPrompt(comments: readonly Comment[]): string {
  const ordered = [...comments].sort((a, b) => compare(a.path, b.path) || a.line - b.line)
  const count = ordered.length === 1 ? "one comment" : `${ordered.length} comments`
  return [`I have ${count} on the changes in the workspace:`, ...ordered.map(oneComment)].join("\n\n")
}

function oneComment({ path, side, line, line_text, content }: Comment): string {
  const where = `${shown(path)}, line ${line}${side === "old" ? " before the change" : ""}`
  const text = line_text.trim()
  return [where, ...(text === "" ? [] : [`> ${text}`]), content].join("\n")
}

/** A name with a line break in it would read as something else. */
const shown = (path: string) => (/[\p{Cc}"]/u.test(path) ? JSON.stringify(path) : path)
const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

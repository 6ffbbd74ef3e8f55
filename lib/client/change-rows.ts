import type { CommentView } from "@/lib/contracts/workspace"
import { type ChangeGroup, type FileChange, isLarge, placeComments, type Spot } from "./change-list"
import { formatBytes } from "./format"
import { type ChangeLine, type HunkLine, type PairLine, type ParsedDiff, toPairs } from "./unified-diff"

/** What is known of one file's diff. `parsed` may be of an older version while a newer one is on its way. */
export type DiffState = { parsed: ParsedDiff | null; tooLarge: number | null; error: Error | null }

export type EditorSpot = { fileKey: string; side: "old" | "new"; line: number }

export type ChangeRow =
  | { type: "group"; key: string; group: ChangeGroup; open: boolean }
  | { type: "file"; key: string; change: FileChange; open: boolean; drafts: number }
  | { type: "hunk"; key: string; hunk: HunkLine; first: boolean }
  | { type: "line"; key: string; change: FileChange; parsed: ParsedDiff; line: ChangeLine }
  | { type: "pair"; key: string; change: FileChange; parsed: ParsedDiff; pair: PairLine }
  | { type: "note"; key: string; words: string }
  | { type: "large"; key: string; change: FileChange }
  | { type: "failed"; key: string; change: FileChange; error: Error }
  | { type: "loading"; key: string; change: FileChange; lines: number }
  | { type: "comment"; key: string; comment: CommentView; moved: boolean }
  | { type: "editor"; key: string; change: FileChange; spot: Spot }
  | { type: "end"; key: string }

export type RowsInput = {
  groups: readonly ChangeGroup[]
  split: boolean
  /** Commits are folded, files are open, until somebody says otherwise. */
  folds: ReadonlyMap<string, boolean>
  /** Large files somebody wants to see all the same. */
  shown: ReadonlySet<string>
  diffs: ReadonlyMap<string, DiffState>
  comments: readonly CommentView[]
  editor: EditorSpot | null
}

/** Rows drawn while a diff is on its way: about as high as what will come, so that the list does not jump much. */
const MAX_PLACEHOLDER_LINES = 200

export const isGroupOpen = (group: ChangeGroup, folds: ReadonlyMap<string, boolean>) => folds.get(group.key) ?? group.commit === null
export const isFileOpen = (change: FileChange, folds: ReadonlyMap<string, boolean>) => folds.get(change.key) ?? true

export function toRows(input: RowsInput): ChangeRow[] {
  const rows: ChangeRow[] = []
  const unplaced = new Set(input.comments)
  for (const group of input.groups) {
    const open = isGroupOpen(group, input.folds)
    rows.push({ type: "group", key: `g ${group.key}`, group, open })
    if (!open) continue
    for (const change of group.files) fileRows(rows, change, input, unplaced)
  }
  if (rows.length > 0) rows.push({ type: "end", key: "end" })
  return rows
}

function fileRows(rows: ChangeRow[], change: FileChange, input: RowsInput, unplaced: Set<CommentView>): void {
  const { key, file } = change
  const open = isFileOpen(change, input.folds)
  const comments = [...unplaced].filter((comment) => comment.path === file.path)
  rows.push({ type: "file", key: `f ${key}`, change, open, drafts: comments.filter(({ prompt_id }) => prompt_id === null).length })
  if (!open) return
  const note = (words: string) => rows.push({ type: "note", key: `n ${key} ${words}`, words })
  if (file.binary) return void note(binaryWords(change))
  if (isLarge(file) && !input.shown.has(key)) return void rows.push({ type: "large", key: `l ${key}`, change })
  const state = input.diffs.get(key)
  if (state?.error && !state.parsed) return void rows.push({ type: "failed", key: `e ${key}`, change, error: state.error })
  if (state?.tooLarge != null) return void note(`The difference is too large to be shown (${formatBytes(state.tooLarge)}).`)
  if (!state?.parsed) {
    const lines = Math.min((file.added ?? 0) + (file.removed ?? 0) + 6, MAX_PLACEHOLDER_LINES)
    return void rows.push({ type: "loading", key: `w ${key}`, change, lines })
  }
  const { parsed } = state
  for (const words of parsed.notes) note(words)
  if (parsed.binary) note(binaryWords(change))
  else if (parsed.lines.length === 0 && parsed.notes.length === 0)
    note(file.old_path ? "Renamed; the content is the same." : emptyWords(change))
  lineRows(rows, change, parsed, input, comments, unplaced)
}

const emptyWords = ({ file }: FileChange) =>
  file.path.endsWith("/")
    ? "A repository of its own."
    : file.new_bytes === 0 || file.status === "added"
      ? "An empty file."
      : "Nothing to show as text."

function binaryWords({ file }: FileChange): string {
  const size = (bytes: number | null) => (bytes === null ? null : formatBytes(bytes))
  const before = size(file.old_bytes)
  const after = size(file.new_bytes)
  if (before && after) return `A binary file: ${before} before, ${after} now.`
  return `A binary file${before || after ? ` of ${after ?? before}` : ""}.`
}

const spotsOf = (line: ChangeLine): Spot[] => [
  ...(line.newNo === null ? [] : [{ side: "new" as const, line: line.newNo, text: line.text }]),
  ...(line.oldNo === null ? [] : [{ side: "old" as const, line: line.oldNo, text: line.text }]),
]
const isAt = (line: ChangeLine, { side, line: no }: { side: "old" | "new"; line: number }) =>
  (side === "new" ? line.newNo : line.oldNo) === no

function lineRows(
  rows: ChangeRow[],
  change: FileChange,
  parsed: ParsedDiff,
  { split, editor }: RowsInput,
  comments: readonly CommentView[],
  unplaced: Set<CommentView>,
): void {
  const lines = parsed.lines.filter((line): line is ChangeLine => line.op !== "hunk")
  const spots = lines.flatMap((line) => spotsOf(line).map((spot) => ({ ...spot, of: line })))
  const at = new Map<ChangeLine, CommentView[]>()
  for (const [comment, place] of placeComments(comments, spots)) {
    const line = place === null ? undefined : spots[place]?.of
    if (line) {
      at.set(line, [...(at.get(line) ?? []), comment])
      unplaced.delete(comment)
    } else if (comment.prompt_id === null) {
      rows.push({ type: "comment", key: `c ${comment.id}`, comment, moved: true })
      unplaced.delete(comment)
    }
  }
  const below = (...drawn: (ChangeLine | null)[]) => {
    for (const line of new Set(drawn)) {
      if (!line) continue
      for (const comment of at.get(line) ?? []) rows.push({ type: "comment", key: `c ${comment.id}`, comment, moved: false })
      if (editor?.fileKey === change.key && isAt(line, editor)) {
        rows.push({ type: "editor", key: `edit ${change.key}`, change, spot: { side: editor.side, line: editor.line, text: line.text } })
      }
    }
  }
  let first = true
  for (const drawn of split ? toPairs(parsed.lines) : parsed.lines) {
    if (drawn.op === "hunk") {
      rows.push({ type: "hunk", key: `h ${change.key} ${drawn.oldStart} ${drawn.newStart}`, hunk: drawn, first })
      first = false
    } else if (drawn.op === "pair") {
      rows.push({ type: "pair", key: lineKey(change, (drawn.left ?? drawn.right) as ChangeLine), change, parsed, pair: drawn })
      below(drawn.left, drawn.right)
    } else {
      rows.push({ type: "line", key: lineKey(change, drawn), change, parsed, line: drawn })
      below(drawn)
    }
  }
}

/** By the old side where it has one: that side stands still while the agent writes the other. */
const lineKey = (change: FileChange, line: ChangeLine) => `${change.key} ${line.oldNo === null ? `+${line.newNo}` : line.oldNo}`

/** What a page that knows nothing of a row's height assumes of it. */
export const rowHeight = (row: ChangeRow): number => {
  switch (row.type) {
    case "group":
      return 42
    case "file":
      return 36
    case "hunk":
      return 26
    case "line":
    case "pair":
      return 20
    case "loading":
      return row.lines * 20
    case "comment":
      return 84
    case "editor":
      return 150
    case "end":
      return 40
    default:
      return 44
  }
}

import type { DiffLine } from "./diff-lines"

/** `at` counts the lines of each side within this diff: where a line's colours are found. */
export type ChangeLine = DiffLine & { readonly at: number; readonly noNewline?: boolean }
export type HunkLine = { readonly op: "hunk"; readonly header: string; readonly oldStart: number; readonly newStart: number }
export type ParsedDiff = {
  readonly lines: readonly (ChangeLine | HunkLine)[]
  /** What is said besides lines: a changed mode, a new name. */
  readonly notes: readonly string[]
  readonly binary: boolean
  readonly oldText: string
  readonly newText: string
}

const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@ ?(.*)$/

/** git's unified text of one file. */
export function parseDiff(text: string): ParsedDiff {
  const lines: (ChangeLine | HunkLine)[] = []
  const notes: string[] = []
  const sides: { old: string[]; new: string[] } = { old: [], new: [] }
  let binary = false
  let oldMode = ""
  let oldNo = 0
  let newNo = 0
  let inHunk = false
  for (const raw of text.endsWith("\n") ? text.slice(0, -1).split("\n") : text.split("\n")) {
    const hunk = HUNK.exec(raw)
    if (hunk) {
      inHunk = true
      oldNo = Number(hunk[1])
      newNo = Number(hunk[2])
      lines.push({ op: "hunk", header: hunk[3] ?? "", oldStart: oldNo, newStart: newNo })
      continue
    }
    if (!inHunk) {
      if (raw.startsWith("Binary files ") || raw === "GIT binary patch") binary = true
      else if (raw.startsWith("old mode ")) oldMode = raw.slice(9)
      else if (raw.startsWith("new mode ")) notes.push(modeWords(oldMode, raw.slice(9)))
      else if (raw === "new file mode 120000") notes.push("A link; its line is where it leads.")
      continue
    }
    const mark = raw[0] ?? " "
    const content = raw.slice(1).replace(/\r$/, "")
    if (mark === "\\") {
      const last = lines.at(-1)
      if (last && last.op !== "hunk") lines[lines.length - 1] = { ...last, noNewline: true }
    } else if (mark === "+") {
      lines.push({ op: "add", text: content, oldNo: null, newNo: newNo++, at: sides.new.push(content) - 1 })
    } else if (mark === "-") {
      lines.push({ op: "del", text: content, oldNo: oldNo++, newNo: null, at: sides.old.push(content) - 1 })
    } else if (mark === " " || raw === "") {
      sides.old.push(content)
      lines.push({ op: "same", text: content, oldNo: oldNo++, newNo: newNo++, at: sides.new.push(content) - 1 })
    } else inHunk = false
  }
  return { lines, notes, binary, oldText: sides.old.join("\n"), newText: sides.new.join("\n") }
}

const modeWords = (before: string, after: string) =>
  before === "100644" && after === "100755"
    ? "Made executable."
    : before === "100755" && after === "100644"
      ? "No longer executable."
      : `Mode ${before} → ${after}`

export type PairLine = { readonly op: "pair"; readonly left: ChangeLine | null; readonly right: ChangeLine | null }

/** Old beside new: what was removed stands next to what was added in its place. */
export function toPairs(lines: readonly (ChangeLine | HunkLine)[]): (PairLine | HunkLine)[] {
  const pairs: (PairLine | HunkLine)[] = []
  for (let at = 0; at < lines.length; ) {
    const line = lines[at] as ChangeLine | HunkLine
    if (line.op === "hunk" || line.op === "same") {
      pairs.push(line.op === "hunk" ? line : { op: "pair", left: line, right: line })
      at++
      continue
    }
    const { dels, adds, next } = changeAt(lines, at)
    for (let i = 0; i < Math.max(dels.length, adds.length); i++) {
      pairs.push({ op: "pair", left: dels[i] ?? null, right: adds[i] ?? null })
    }
    at = next
  }
  return pairs
}

function changeAt(lines: readonly (ChangeLine | HunkLine)[], from: number) {
  const take = (op: "del" | "add", start: number) => {
    let end = start
    while (lines[end]?.op === op) end++
    return lines.slice(start, end) as ChangeLine[]
  }
  const dels = take("del", from)
  const adds = take("add", from + dels.length)
  return { dels, adds, next: from + dels.length + adds.length }
}

export type Mark = readonly [from: number, to: number]

/** Beyond this a line is too long to be compared word by word at every draw. */
const MAX_MARKED = 400
/** Lines that have less in common are new lines, not changed ones: marks would only be noise. */
const MIN_COMMON = 0.35

/** Which part of a changed line is another, for lines that stand opposite each other. */
export function wordMarks(lines: readonly (ChangeLine | HunkLine)[]): Map<ChangeLine, Mark> {
  const marks = new Map<ChangeLine, Mark>()
  for (let at = 0; at < lines.length; ) {
    if (lines[at]?.op !== "del") {
      at++
      continue
    }
    const { dels, adds, next } = changeAt(lines, at)
    if (dels.length === adds.length) {
      dels.forEach((del, i) => {
        const add = adds[i] as ChangeLine
        const found = compareWords(del.text, add.text)
        if (!found) return
        marks.set(del, found.old)
        marks.set(add, found.new)
      })
    }
    at = next
  }
  return marks
}

export function compareWords(a: string, b: string): { old: Mark; new: Mark } | null {
  if (a.length > MAX_MARKED || b.length > MAX_MARKED || a === b) return null
  let head = 0
  while (head < a.length && head < b.length && a[head] === b[head]) head++
  let tail = 0
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++
  // Whole words: half a word in another colour reads as two.
  while (head > 0 && /\w/.test(a[head - 1] ?? "") && (/\w/.test(a[head] ?? "") || /\w/.test(b[head] ?? ""))) head--
  while (
    tail > 0 &&
    /\w/.test(a[a.length - tail] ?? "") &&
    (/\w/.test(a[a.length - tail - 1] ?? "") || /\w/.test(b[b.length - tail - 1] ?? ""))
  )
    tail--
  const common = a.slice(0, head).trim().length + a.slice(a.length - tail).trim().length
  if (common < MIN_COMMON * Math.max(a.trim().length, b.trim().length)) return null
  return { old: [head, a.length - tail], new: [head, b.length - tail] }
}

export type DiffLine = {
  readonly op: "same" | "add" | "del"
  readonly text: string
  readonly oldNo: number | null
  readonly newNo: number | null
}
export type DiffRow = DiffLine | { readonly op: "skip"; readonly count: number }
export type LineDiff = { readonly rows: readonly DiffRow[]; readonly added: number; readonly removed: number }

const CONTEXT = 3
/** Beyond this many cells the exact comparison would block the page: the changed middle is shown as removed and added. */
const MAX_CELLS = 1_500_000

const linesOf = (text: string) => {
  if (text === "") return []
  const lines = text.split("\n")
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines
}

export function diffLines(oldText: string | null, newText: string): LineDiff {
  const a = linesOf(oldText ?? "")
  const b = linesOf(newText)
  let head = 0
  while (head < a.length && head < b.length && a[head] === b[head]) head++
  let tail = 0
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++
  const ops = [
    ...Array<"same">(head).fill("same"),
    ...compareMiddle(a.slice(head, a.length - tail), b.slice(head, b.length - tail)),
    ...Array<"same">(tail).fill("same"),
  ]
  const lines = number(ops, a, b)
  return {
    rows: fold(lines),
    added: lines.filter((line) => line.op === "add").length,
    removed: lines.filter((line) => line.op === "del").length,
  }
}

type Op = DiffLine["op"]

function compareMiddle(a: readonly string[], b: readonly string[]): Op[] {
  const width = b.length + 1
  if (a.length * b.length > MAX_CELLS || a.length === 0 || b.length === 0) {
    return [...Array<Op>(a.length).fill("del"), ...Array<Op>(b.length).fill("add")]
  }
  const common = new Uint32Array((a.length + 1) * width)
  const cell = (i: number, j: number) => common[i * width + j] ?? 0
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      common[i * width + j] = a[i] === b[j] ? cell(i + 1, j + 1) + 1 : Math.max(cell(i + 1, j), cell(i, j + 1))
    }
  }
  const ops: Op[] = []
  let i = 0
  let j = 0
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      ops.push("same")
      i++
      j++
    } else if (i < a.length && (j === b.length || cell(i + 1, j) >= cell(i, j + 1))) {
      ops.push("del")
      i++
    } else {
      ops.push("add")
      j++
    }
  }
  return ops
}

function number(ops: readonly Op[], a: readonly string[], b: readonly string[]): DiffLine[] {
  let oldNo = 0
  let newNo = 0
  return ops.map((op) => {
    if (op !== "add") oldNo++
    if (op !== "del") newNo++
    const text = (op === "add" ? b[newNo - 1] : a[oldNo - 1]) ?? ""
    return { op, text, oldNo: op === "add" ? null : oldNo, newNo: op === "del" ? null : newNo }
  })
}

function fold(lines: readonly DiffLine[]): DiffRow[] {
  const near = new Uint8Array(lines.length)
  lines.forEach((line, at) => {
    if (line.op !== "same") near.fill(1, Math.max(0, at - CONTEXT), Math.min(lines.length, at + CONTEXT + 1))
  })
  const rows: DiffRow[] = []
  let skipped = 0
  lines.forEach((line, at) => {
    if (near[at] === 1) {
      if (skipped > 0) rows.push({ op: "skip", count: skipped })
      skipped = 0
      rows.push(line)
    } else skipped++
  })
  if (skipped > 0) rows.push({ op: "skip", count: skipped })
  return rows
}

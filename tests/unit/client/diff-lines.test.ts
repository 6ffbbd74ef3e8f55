import fc from "fast-check"
import { expect, test } from "vitest"
import { diffLines } from "@/lib/client/diff-lines"

test("changed lines come with three lines around them; the rest is counted", () => {
  const before = Array.from({ length: 12 }, (_, at) => `line ${at}`).join("\n")
  const { rows, added, removed } = diffLines(before, before.replace("line 6", "line six"))
  expect({ added, removed }).toEqual({ added: 1, removed: 1 })
  expect(rows.map((row) => (row.op === "skip" ? `skip ${row.count}` : `${row.op} ${row.text}`))).toEqual([
    "skip 3",
    "same line 3",
    "same line 4",
    "same line 5",
    "del line 6",
    "add line six",
    "same line 7",
    "same line 8",
    "same line 9",
    "skip 2",
  ])
})

test("a new file is all added", () => {
  expect(diffLines(null, "a\nb\n")).toMatchObject({ added: 2, removed: 0 })
})

test("removing and adding what a diff says turns the old text into the new one", () => {
  const text = fc.array(fc.constantFrom("a", "b", "c", "d"), { maxLength: 7 })
  fc.assert(
    fc.property(text, text, (a, b) => {
      const lines = diffLines(a.join("\n"), b.join("\n")).rows.flatMap((row) => (row.op === "skip" ? [] : [row]))
      const kept = lines.filter((row) => row.op !== "del").length - lines.filter((row) => row.op !== "add").length
      expect(kept).toBe(b.length - a.length)
    }),
  )
})

import { describe, expect, test } from "vitest"
import { type ChangeLine, compareWords, parseDiff, toPairs, wordMarks } from "../../../lib/client/unified-diff"

const modified = `diff --git a/src/app.ts b/src/app.ts
index 1111111..2222222 100644
--- a/src/app.ts
+++ b/src/app.ts
@@ -3,5 +3,6 @@ export function app() {
 const a = 1
-const b = 2
-const c = 3
+const b = 20
+const c = 30
+const d = 4
 return a
@@ -40 +41 @@
-last
\\ No newline at end of file
+last
`
const brief = (text: string) =>
  parseDiff(text).lines.map((line) => (line.op === "hunk" ? `@@ ${line.header}` : `${line.op} ${line.oldNo}/${line.newNo} ${line.text}`))

describe("a unified diff", () => {
  test("is read into lines that count on both sides", () => {
    expect(brief(modified)).toEqual([
      "@@ export function app() {",
      "same 3/3 const a = 1",
      "del 4/null const b = 2",
      "del 5/null const c = 3",
      "add null/4 const b = 20",
      "add null/5 const c = 30",
      "add null/6 const d = 4",
      "same 6/7 return a",
      "@@ ",
      "del 40/null last",
      "add null/41 last",
    ])
  })

  test("says where a line break is missing, and on which side", () => {
    const lines = parseDiff(modified).lines.filter((line): line is ChangeLine => line.op !== "hunk")
    expect(lines.map(({ noNewline }) => noNewline ?? false)).toEqual([...Array(7).fill(false), true, false])
  })

  test("keeps lines that look like its own headers, and line ends of another system out of the text", () => {
    expect(brief("--- a/x\n+++ b/x\n@@ -1,2 +1,3 @@\n---- a/y\n+++++ b/y\n+@@ -1 +1 @@\n \r\n")).toEqual([
      "@@ ",
      "del 1/null --- a/y",
      "add null/1 ++++ b/y",
      "add null/2 @@ -1 +1 @@",
      "same 2/3 ",
    ])
  })

  test("of a binary file, a rename or a mode has no lines but says what it is", () => {
    expect(parseDiff("diff --git a/x b/x\nBinary files a/x and b/x differ\n")).toMatchObject({ binary: true, lines: [] })
    expect(parseDiff("diff --git a/x b/x\nold mode 100644\nnew mode 100755\n").notes).toEqual(["Made executable."])
    expect(parseDiff("")).toMatchObject({ binary: false, lines: [], notes: [] })
  })

  test("gives each side's text for its colours, and each line its place in it", () => {
    const { lines, oldText, newText } = parseDiff(modified)
    const sides = { old: oldText.split("\n"), new: newText.split("\n") }
    for (const line of lines) if (line.op !== "hunk") expect(sides[line.op === "del" ? "old" : "new"][line.at]).toBe(line.text)
  })
})

test("side by side, what was removed stands next to what was added in its place", () => {
  const pairs = toPairs(parseDiff(modified).lines).map((pair) => (pair.op === "hunk" ? "@@" : [pair.left?.text, pair.right?.text]))
  expect(pairs).toEqual([
    "@@",
    ["const a = 1", "const a = 1"],
    ["const b = 2", "const b = 20"],
    ["const c = 3", "const c = 30"],
    [undefined, "const d = 4"],
    ["return a", "return a"],
    "@@",
    ["last", "last"],
  ])
})

describe("word marks", () => {
  const part = (a: string, b: string) => {
    const found = compareWords(a, b)
    return found && [a.slice(...found.old), b.slice(...found.new)]
  }
  test("name the words that differ, whole", () => {
    expect(part("const timeout = 100", "const timeout = 2000")).toEqual(["100", "2000"])
    expect(part("call(first, second)", "call(first, second, third)")).toEqual(["", ", third"])
    expect(part("const x = renameFile(a, b)", "const x = renamePath(a, b)")).toEqual(["renameFile", "renamePath"])
  })
  test("are left out where lines have little in common, are the same or are too long", () => {
    expect(part("import a", "export const other = 1")).toBeNull()
    expect(part("same", "same")).toBeNull()
    expect(part("x".repeat(500), `${"x".repeat(500)}y`)).toBeNull()
  })
  test("are made for blocks of as many lines on both sides only", () => {
    const even = parseDiff("@@ -1 +1 @@\n-let value = 1\n+let value = 2\n").lines
    expect(wordMarks(even).size).toBe(2)
    expect(wordMarks(parseDiff(modified).lines).size).toBe(0)
  })
})

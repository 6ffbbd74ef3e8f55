import { expect, test } from "vitest"
import { commentsPrompt } from "../../../server/workspace/comments-prompt"

const comment = { path: "src/a.ts", side: "new" as const, line: 12, line_text: "  const a = 1  ", content: "Name it." }

test("one comment is told with its file, its line and what the line says", () => {
  expect(commentsPrompt([comment])).toBe(
    "I have one comment on the changes in the workspace:\n\nsrc/a.ts, line 12\n> const a = 1\nName it.",
  )
})

test("several are in the order of files and lines, and a line that is gone counts as it was", () => {
  const prompt = commentsPrompt([
    { ...comment, path: "z.ts" },
    { ...comment, line: 40, line_text: "", content: "Two\nlines." },
    { ...comment, line: 3, side: "old" },
  ])
  expect(prompt.split("\n\n")).toEqual([
    "I have 3 comments on the changes in the workspace:",
    "src/a.ts, line 3 before the change\n> const a = 1\nName it.",
    "src/a.ts, line 40\nTwo\nlines.",
    "z.ts, line 12\n> const a = 1\nName it.",
  ])
})

test("a file name cannot pass for something else", () => {
  expect(commentsPrompt([{ ...comment, path: "a\nrm -rf /" }])).toContain('"a\\nrm -rf /", line 12')
})

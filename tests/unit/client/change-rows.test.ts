import { describe, expect, test } from "vitest"
import { countChanged, groupChanges, LARGE_CHANGE_LINES, placeComments } from "../../../lib/client/change-list"
import { type DiffState, type RowsInput, toRows } from "../../../lib/client/change-rows"
import { parseDiff } from "../../../lib/client/unified-diff"
import type { ChangedFile, Changes, CommentView } from "../../../lib/contracts/workspace"

const file = (path: string, extra: Partial<ChangedFile> = {}): ChangedFile => ({
  path,
  old_path: null,
  status: "modified",
  added: 1,
  removed: 1,
  binary: false,
  old_bytes: 10,
  new_bytes: 12,
  version: "1",
  ...extra,
})
const changes = (part: Partial<Changes>): Changes => ({
  branch: "main",
  head: null,
  conflicts: [],
  staged: [],
  unstaged: [],
  untracked: [],
  commits: [],
  truncated: false,
  ...part,
})
const comment = (extra: Partial<CommentView>): CommentView => ({
  id: "cmt_1",
  path: "a.ts",
  side: "new",
  line: 2,
  line_text: "two",
  content: "why?",
  created_at: "",
  updated_at: "",
  prompt_id: null,
  ...extra,
})
const ready = (text: string): DiffState => ({ parsed: parseDiff(text), tooLarge: null, error: null })
const diff = ready("@@ -1,3 +1,3 @@\n one\n-old two\n+two\n three\n")
const input = (extra: Partial<RowsInput>): RowsInput => ({
  groups: groupChanges(changes({ unstaged: [file("a.ts")] })),
  split: false,
  folds: new Map(),
  shown: new Set(),
  diffs: new Map([["unstaged a.ts", diff]]),
  comments: [],
  editor: null,
  ...extra,
})
const types = (rows: ReturnType<typeof toRows>) => rows.map(({ type }) => type).join(" ")

test("a file is counted once, however often it changed", () => {
  const commits = [{ id: "c1", subject: "", author: "", at: "", files: [file("a.ts"), file("b.ts")] }]
  expect(countChanged(changes({ staged: [file("a.ts")], unstaged: [file("a.ts")], commits }))).toBe(2)
})

describe("rows", () => {
  test("show what is open and keep commits folded until they are opened", () => {
    const commits = [{ id: "c1", subject: "work", author: "", at: "", files: [file("b.ts")] }]
    const groups = groupChanges(changes({ unstaged: [file("a.ts")], commits }))
    expect(types(toRows(input({ groups })))).toBe("group file hunk line line line line group end")
    expect(types(toRows(input({ groups, folds: new Map([["c1", true]]) })))).toBe(
      "group file hunk line line line line group file loading end",
    )
    expect(types(toRows(input({ folds: new Map([["unstaged a.ts", false]]) })))).toBe("group file end")
    expect(types(toRows(input({ split: true })))).toBe("group file hunk pair pair pair end")
  })

  test("keep their keys while lines come and go before them, so that the reader keeps the place", () => {
    const before = toRows(input({}))
    const after = toRows(
      input({ diffs: new Map([["unstaged a.ts", ready("@@ -1,3 +1,5 @@\n+zero\n+zero\n one\n-old two\n+two\n three\n")]]) }),
    )
    const keyOf = (rows: typeof before, text: string) => rows.find((row) => row.type === "line" && row.line.text === text)?.key
    for (const text of ["one", "old two", "three"]) expect(keyOf(after, text)).toBe(keyOf(before, text))
    expect(new Set(after.map(({ key }) => key)).size).toBe(after.length)
  })

  test("name binary, large and too large files instead of their lines", () => {
    const large = file("a.ts", { added: LARGE_CHANGE_LINES + 1 })
    const groups = groupChanges(changes({ unstaged: [large] }))
    expect(types(toRows(input({ groups })))).toBe("group file large end")
    expect(types(toRows(input({ groups, shown: new Set(["unstaged a.ts"]) })))).toBe("group file hunk line line line line end")
    const binary = toRows(input({ groups: groupChanges(changes({ unstaged: [file("a.png", { binary: true })] })) }))
    expect(binary).toContainEqual(expect.objectContaining({ type: "note", words: "A binary file: 10 B before, 12 B now." }))
    const tooLarge: DiffState = { parsed: null, tooLarge: 3 * 1024 * 1024, error: null }
    expect(toRows(input({ diffs: new Map([["unstaged a.ts", tooLarge]]) }))).toContainEqual(
      expect.objectContaining({ type: "note", words: "The difference is too large to be shown (3.0 MB)." }),
    )
  })

  test("put a comment below its line, the editor below the line it is for, and each once", () => {
    const rows = toRows(input({ comments: [comment({})], editor: { fileKey: "unstaged a.ts", side: "old", line: 2 } }))
    expect(types(rows)).toBe("group file hunk line line editor line comment line end")
    const groups = groupChanges(changes({ staged: [file("a.ts")], unstaged: [file("a.ts")] }))
    const diffs = new Map([
      ["staged a.ts", diff],
      ["unstaged a.ts", diff],
    ])
    expect(toRows(input({ groups, diffs, comments: [comment({})] })).filter(({ type }) => type === "comment")).toHaveLength(1)
  })

  test("keep a draft in sight when its line is gone; what was sent may go with it", () => {
    const gone = { line_text: "not there any more" }
    const rows = toRows(input({ comments: [comment(gone), comment({ id: "cmt_2", prompt_id: "prm_1", ...gone })] }))
    expect(rows.filter((row) => row.type === "comment")).toMatchObject([{ moved: true, comment: { id: "cmt_1" } }])
  })
})

test("a comment stays with its words when lines move, and takes the nearest of equal ones", () => {
  const spots = [1, 5, 9].map((line) => ({ side: "new" as const, line, text: "two" }))
  const place = (line: number, text = "two") => [...placeComments([comment({ line, line_text: text })], spots).values()][0]
  expect([place(1), place(6), place(9), place(100)]).toEqual([0, 1, 2, 2])
  expect(place(1, "three")).toBeNull()
})

import { expect, test } from "vitest"
import { ArchiveState, RestoreState } from "@/lib/contracts/agentctl/archive"
import { LEFT_OUT_PATH_CHARS, LeftOut } from "@/lib/contracts/left-out"
import { parseEnd } from "@/server/agentctl/archive/archive-format"
import { LeftOutSummary } from "@/server/agentctl/archive/left-out"

const amounts = { bytes: 1, files: 1, total_bytes: 1, total_files: 1, error: null }

test("what a daemon of an earlier version left out is unknown, not nothing", () => {
  const packed = { state: "packed", ...amounts, archive_bytes: 1, sha256: "x", path: "/a", compression: "zstd" }
  const told = ArchiveState.parse({ ...packed, left_out: [{ path: "up", reason: "outward_link" }], left_out_total: 1 })
  expect(told.left_out).toBeNull()
  expect(RestoreState.parse({ state: "restored", ...amounts, agent_session_id: null, notes: [] }).left_out).toBeNull()
})

test("format 1's names become groups; those it only counted are others", () => {
  const named = ["a", "b"].map((path) => ({ path, reason: "special_file" }))
  const end = { end: true, entries: 1, files: 1, bytes: 1, left_out: [...named, { path: "up", reason: "outward_link" }], left_out_total: 7 }
  expect(parseEnd(1, JSON.stringify(end))?.left_out).toEqual([
    { reason: "outward_link", count: 1, bytes: null, names: [{ path: "up", files: null }] },
    {
      ...{ reason: "special_file", count: 2, bytes: null },
      names: [
        { path: "a", files: null },
        { path: "b", files: null },
      ],
    },
    { reason: "other", count: 4, bytes: null, names: [] },
  ])
})

test("a summary stays within its bounds, whatever names it is given, and never cuts a character in two", () => {
  const summary = new LeftOutSummary()
  for (let i = 0; i < 10_000; i++) summary.add({ reason: "unreadable", path: `${"x".repeat(i % 3)}${"😀".repeat(200)}`, bytes: 1 })
  summary.add({ reason: "vanished", path: "gone" })
  const [unreadable] = LeftOut.parse(summary.all)
  expect(unreadable).toMatchObject({ reason: "unreadable", count: 10_000, bytes: 10_000 })
  for (const { path } of unreadable?.names ?? []) {
    expect(path.length).toBeLessThanOrEqual(LEFT_OUT_PATH_CHARS)
    expect(/\p{Cs}/u.test(path)).toBe(false)
  }
})

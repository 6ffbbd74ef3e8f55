import { describe, expect, test } from "vitest"
import { toRecords } from "../../../server/execution/spool-lines"

const TS = "2026-01-31T12:00:00.000Z"
const line = (n: number) =>
  JSON.stringify({ n, ts: TS, kind: "message.delta", run_id: "run_1", role: "agent", message_id: "msg_1", content: "x" })
const seen = (lines: string[], after = 0) => toRecords(lines, after).map(({ n, kind }) => `${n} ${kind}`)

describe("lines of a spool that cannot be read", () => {
  test.each([
    ["garbage", "%&/()"],
    ["NULs", "\0\0\0\0"],
    ["half a record", line(2).slice(0, 30)],
    ["a list", "[1,2]"],
    ["null", "null"],
    ["a number of the wrong type", JSON.stringify({ n: "2", ts: TS, kind: "message.delta" })],
    ["no time", JSON.stringify({ n: 2, kind: "message.delta" })],
    ["a number far ahead", line(2_000_000)],
  ])("%s between two records becomes a rejected record with the number of the lost one", (_, bad) => {
    expect(seen([line(1), bad, line(3)])).toEqual(["1 message.delta", "2 record.rejected", "3 message.delta"])
  })

  test("one that swallowed its neighbour has the last number that is missing", () => {
    expect(seen([line(1), "%&", line(4)])).toEqual(["1 message.delta", "3 record.rejected", "4 message.delta"])
  })

  test("the last ones of a batch are numbered on from what was read", () => {
    expect(seen(["%", "&"], 7)).toEqual(["9 record.rejected"])
  })

  test("something between two records that follow each other was never a record", () => {
    expect(seen([line(1), "%&", line(2)])).toEqual(["1 message.delta", "2 message.delta"])
  })

  test("a rejected record may stand for as many as it says, and an unknown kind keeps its place", () => {
    const lost = JSON.stringify({ n: 500_000, ts: TS, kind: "record.rejected", sha256: "", reason: "499999 records were lost on disk" })
    const unknown = JSON.stringify({ n: 500_001, ts: TS, kind: "of.tomorrow", data: 1 })
    expect(seen([lost, unknown])).toEqual(["500000 record.rejected", "500001 agent.update"])
  })
})

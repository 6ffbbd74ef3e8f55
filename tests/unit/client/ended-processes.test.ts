import { expect, test } from "vitest"
import { controlOf } from "../../../components/terminal/control-keys"
import { endedIn } from "../../../lib/client/ended-processes"
import type { Item } from "../../../lib/client/transcript-items"

const receipt = (seq: number, processes: object[]) => ({ type: "receipt", receipt: { seq, processes } }) as unknown as Item

test("a terminal offers what the newest receipt that speaks of it says ended there", () => {
  const shell = { what: "Terminal 1", outcome: "ended", worker_id: "wrk_1" }
  const items = [
    receipt(3, [{ what: "old", command: "old", outcome: "ended", worker_id: "wrk_1" }]),
    receipt(7, [shell, { what: "npm run dev", command: "npm run dev", outcome: "ended", worker_id: "wrk_1" }]),
    receipt(9, [{ what: "other", command: "other", outcome: "ended", worker_id: "wrk_2" }]),
  ]
  expect(endedIn(items, "wrk_1")).toEqual([{ key: "7.wrk_1.1", command: "npm run dev" }])
  expect(endedIn([...items, receipt(12, [{ ...shell, outcome: "kept" }])], "wrk_1")).toEqual([])
  expect(endedIn(items, "wrk_9")).toEqual([])
})

test.each([
  ["a carriage return, which would run what follows", "true\rrm -rf x"],
  ["a control key that clears the line", "'a\x15rm -rf x'"],
  ["an escape sequence", "echo \x1b[2J"],
  ["a character that turns the direction of reading", "echo \u202ex"],
  ["an invisible character", "echo a\u200bb"],
])("a command with %s is not offered: it cannot be typed as it is shown", (_what, command) => {
  const ended = { what: "make", command, outcome: "ended", worker_id: "wrk_1" }
  expect(endedIn([receipt(1, [ended])], "wrk_1")).toEqual([])
})

test("Ctrl on a phone makes of a key what it makes on a keyboard", () => {
  expect([controlOf("c"), controlOf("C"), controlOf("["), controlOf(" "), controlOf("?")]).toEqual(["\x03", "\x03", "\x1b", "\x00", "\x7f"])
  expect([controlOf("1"), controlOf("é"), controlOf("\x1b[A")]).toEqual([null, null, null])
})

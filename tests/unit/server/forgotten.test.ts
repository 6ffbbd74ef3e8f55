import { expect, test } from "vitest"
import { showsNothing } from "../../../server/execution/forgotten"

test("an agent that repeats nothing, or does not know its own session, shows that it holds nothing", () => {
  expect(showsNothing({ kind: "replay", updates: 0 })).toBe(true)
  expect(showsNothing({ kind: "list", listed: false })).toBe(true)
})

test("one that repeats something, or lists the session, has it", () => {
  expect(showsNothing({ kind: "replay", updates: 1 })).toBe(false)
  expect(showsNothing({ kind: "list", listed: true })).toBe(false)
})

test("without evidence, as from an older daemon, it is believed", () => expect(showsNothing(undefined)).toBe(false))

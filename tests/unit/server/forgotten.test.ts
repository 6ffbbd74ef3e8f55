import { expect, test } from "vitest"
import { hasForgotten } from "../../../server/execution/forgotten"

test("an agent that repeats nothing, or does not know its own session, has forgotten", () => {
  expect(hasForgotten({ kind: "replay", updates: 0 }, true)).toBe(true)
  expect(hasForgotten({ kind: "list", listed: false }, true)).toBe(true)
})

test("one that repeats something, or lists the session, has not", () => {
  expect(hasForgotten({ kind: "replay", updates: 1 }, true)).toBe(false)
  expect(hasForgotten({ kind: "list", listed: true }, true)).toBe(false)
})

test("without evidence, as from an older daemon, it is believed", () => expect(hasForgotten(undefined, true)).toBe(false))

test("where nothing was answered yet there is nothing to forget", () => {
  expect(hasForgotten({ kind: "replay", updates: 0 }, false)).toBe(false)
  expect(hasForgotten({ kind: "list", listed: false }, false)).toBe(false)
})

import { describe, expect, test } from "vitest"
import { type ExpiryFacts, expiresAt, judgeExpiry } from "../../../server/status/expiry"

const facts: ExpiryFacts = {
  type: "chat",
  last_activity_at: "2026-01-01T10:00:00.000Z",
  busy: false,
  executor_deleted: false,
  expire_hours: { chat: 2, code: 24 },
}
const at = (time: string) => new Date(`2026-01-01T${time}Z`)

describe("when a task expires", () => {
  test.each([
    ["a moment before its time", facts, at("11:59:59.999"), null],
    ["at its time", facts, at("12:00:00.000"), "expired"],
    ["a code task is kept longer", { ...facts, type: "code" as const }, at("12:00:00.000"), null],
    ["a busy task does not expire", { ...facts, busy: true }, at("23:00:00.000"), null],
    [
      "without its executor it has to be restored, however young",
      { ...facts, executor_deleted: true },
      at("10:00:00.001"),
      "executor_deleted",
    ],
    ["half an hour is possible", { ...facts, expire_hours: { chat: 0.5, code: 1 } }, at("10:30:00.000"), "expired"],
  ])("%s", (_what, given, now, reason) => {
    expect(judgeExpiry(given, now)).toBe(reason)
  })

  test("the list shows the time, or none while something keeps the task", () => {
    expect(expiresAt(facts)).toBe("2026-01-01T12:00:00.000Z")
    expect(expiresAt({ ...facts, busy: true })).toBeNull()
  })
})

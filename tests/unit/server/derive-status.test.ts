import { describe, expect, test } from "vitest"
import { InterruptionReason, type SessionStatus } from "../../../lib/contracts/status"
import { deriveStatus } from "../../../server/status"

const now = new Date("2026-02-21T10:00:00.000Z")
const later = "2026-02-21T11:00:00.000Z"
const interruption = (reason: InterruptionReason) => ({ run_id: "run_0", reason, at: "2026-02-21T09:00:00.000Z" })

/** Seed 004's precedence, written out: interrupted_startup > interrupted_waiting > waiting > running > idle. */
function bySeed(facts: { open: boolean; ownBoot: boolean; waits: Wait[]; interrupted: InterruptionReason | null }): SessionStatus {
  if (facts.open && !facts.ownBoot) return "interrupted_startup"
  if (facts.open && facts.waits.some((wait) => wait !== "answerable")) return "interrupted_waiting"
  if (facts.open && facts.waits.length > 0) return "waiting"
  if (facts.open) return "running"
  if (facts.interrupted === "wait_timeout" || facts.interrupted === "token_invalid") return "interrupted_waiting"
  return facts.interrupted ? "interrupted_startup" : "idle"
}
type Wait = "answerable" | "token gone" | "deadline passed"
const WAITS: Wait[][] = [
  [],
  ["answerable"],
  ["token gone"],
  ["deadline passed"],
  ["answerable", "answerable"],
  ["answerable", "token gone"],
]
const REASONS = [null, ...InterruptionReason.options]

const cases = [true, false].flatMap((open) =>
  [true, false].flatMap((ownBoot) => WAITS.flatMap((waits) => REASONS.map((interrupted) => ({ open, ownBoot, waits, interrupted })))),
)

describe("the status of a session is derived by the seed's precedence", () => {
  test.each(cases)("run open: $open, of a living boot: $ownBoot, waits: $waits, last interruption: $interrupted", (facts) => {
    const waits = facts.waits.map((wait, i) => ({
      token_id: `rt_${i}`,
      expires_at: wait === "deadline passed" ? now.toISOString() : later,
    }))
    const status = deriveStatus(
      {
        open_run: facts.open ? { run_id: "run_1", boot_id: facts.ownBoot ? "boot_now" : "boot_before", waits } : null,
        interruption: facts.interrupted ? interruption(facts.interrupted) : null,
      },
      {
        now,
        isLivingBoot: (id) => id === "boot_now",
        liveTokens: new Set(waits.filter((_, i) => facts.waits[i] !== "token gone").map((wait) => wait.token_id)),
      },
    )
    expect(status).toBe(bySeed(facts))
  })

  test("a session that never ran is idle", () => {
    expect(deriveStatus({ open_run: null, interruption: null }, { now, isLivingBoot: () => true, liveTokens: new Set() })).toBe("idle")
  })

  test("an interruption stays visible however much time passes, until the next run starts", () => {
    const facts = { open_run: null, interruption: interruption("executor_lost") }
    const years = { now: new Date("2036-01-01"), isLivingBoot: () => false, liveTokens: new Set<string>() }
    expect(deriveStatus(facts, years)).toBe("interrupted_startup")
    const restarted = { open_run: { run_id: "run_1", boot_id: "boot_now", waits: [] }, interruption: null }
    expect(deriveStatus(restarted, { ...years, isLivingBoot: () => true })).toBe("running")
  })

  test("a question is answerable until its deadline and not a moment longer", () => {
    const at = (time: string) =>
      deriveStatus(
        { open_run: { run_id: "run_1", boot_id: "b", waits: [{ token_id: "rt_1", expires_at: later }] }, interruption: null },
        { now: new Date(time), isLivingBoot: () => true, liveTokens: new Set(["rt_1"]) },
      )
    expect(at("2026-02-21T10:59:59.999Z")).toBe("waiting")
    expect(at("2026-02-21T11:00:00.000Z")).toBe("interrupted_waiting")
  })
})

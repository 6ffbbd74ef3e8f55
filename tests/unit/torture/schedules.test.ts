import { describe, expect, test } from "vitest"
import { KILL_POINTS } from "../../../lib/host/kill-point"
import { generate } from "../../torture/generate"
import { ALL_SETTINGS, describeStep, isFault, type Schedule, type Step } from "../../torture/schedule"
import { shrink } from "../../torture/shrink"

const many = Array.from({ length: 400 }, (_, seed) => generate(seed, 20))

describe("schedules", () => {
  test("a seed gives one plan, always the same", () => {
    for (const seed of [0, 1, 42, 999_999]) expect(generate(seed, 20)).toEqual(generate(seed, 20))
    expect(generate(1, 20)).not.toEqual(generate(2, 20))
  })

  test("all of them together reach every kill point, every action and every setting", () => {
    const steps = many.flatMap((schedule) => schedule.steps)
    const points = new Set(steps.flatMap((step) => (step.do === "arm" ? [step.point] : [])))
    expect([...points].sort()).toEqual(Object.values(KILL_POINTS).flat().sort())
    const actions = new Set(steps.map((step) => step.do))
    const byPeople = ["send", "answer", "cancel", "stop", "resume", "go back", "edit", "withdraw", "open tab", "close tab", "together"]
    const atTerminals = ["open terminal", "look", "type", "resize", "close terminal"]
    const faults = ["kill", "arm", "kill while starting", "freeze daemon", "close database", "damage row"]
    for (const action of [...byPeople, ...atTerminals, ...faults]) expect(actions).toContain(action)
    expect(steps.filter(({ do: action }) => atTerminals.includes(action)).length).toBeLessThan(steps.length / 3)
    expect(new Set(many.map(({ setting }) => setting)).size).toBe(ALL_SETTINGS.length)
    expect(steps.filter(isFault).length).toBeGreaterThan(many.length)
  })

  test("a row of seeds visits every kill point", () => {
    for (const [setting, expected] of [
      ["sqlite", [...KILL_POINTS.server, ...KILL_POINTS.daemon]],
      ["expiring postgresql", KILL_POINTS.put_away],
    ] as const) {
      const visited = expected.map((_, seed) => {
        const { steps } = generate(seed, 20, [setting])
        const visit = steps.findIndex((step) => step.do === "await" && step.for === "idle")
        return steps.slice(visit).find((step) => step.do === "arm")?.point
      })
      expect(visited.sort()).toEqual([...expected].sort())
    }
  })

  test("no two messages of a schedule are alike, so that what an agent heard can be counted", () => {
    for (const { steps } of many) {
      const words = steps.flatMap((step) => (step.do === "send" && step.client_id === null ? (/\bw\d+n\d+\b/.exec(step.text) ?? []) : []))
      expect(new Set(words).size).toBe(words.length)
    }
  })

  test("schedules for some settings only have no other", () => {
    const wanted = ["postgresql", "expiring postgresql"] as const
    const drawn = Array.from({ length: 100 }, (_, seed) => generate(seed, 20, wanted).setting)
    expect([...new Set(drawn)].sort()).toEqual([...wanted].sort())
  })

  test("every step can be told", () => {
    for (const step of many.flatMap(({ steps }) => steps)) expect(describeStep(step)).not.toMatch(/undefined|\[object/)
  })
})

describe("shrinking", () => {
  const named = (nth: number): Step => ({ do: "await", session: nth, for: "end" })
  const schedule: Schedule = { seed: 1, length: 12, setting: "sqlite", steps: Array.from({ length: 12 }, (_, nth) => named(nth)) }
  const has = (candidate: Schedule, nth: number) => candidate.steps.some((step) => "session" in step && step.session === nth)

  test("leaves what it takes to break it, and nothing else", async () => {
    const smallest = await shrink(
      schedule,
      async (candidate) => has(candidate, 3) && has(candidate, 10),
      () => true,
    )
    expect(smallest.steps).toEqual([named(3), named(10)])
  })

  test("ends when its time is over, with what it has", async () => {
    let tries = 0
    const smallest = await shrink(
      schedule,
      async (candidate) => has(candidate, 3),
      () => ++tries < 20,
    )
    expect(smallest.steps.length).toBeLessThan(12)
    expect(has(smallest, 3)).toBe(true)
  })
})

import fc from "fast-check"
import { expect, test } from "vitest"
import { planResume, type ResumeFacts } from "../../../server/status/plan-resume"

const facts = fc.record({
  had_agent: fc.boolean(),
  agent_session_id: fc.constantFrom(null, "agent-1"),
  native: fc.boolean(),
  injects: fc.boolean(),
  fresh: fc.boolean(),
  refused: fc.subarray(["native", "inject"] as const).map((ways) => new Set(ways)),
})
const always = (holds: (facts: ResumeFacts, plan: ReturnType<typeof planResume>) => void) =>
  fc.assert(
    fc.property(facts, (given) => {
      holds(given, planResume(given))
    }),
    { numRuns: 500 },
  )

test("a first start is no resume", () => always((given, plan) => expect(plan.kind === "new").toBe(!given.had_agent)))
test("native is taken whenever the agent can, its id is known, and it was not refused", () =>
  always((given, plan) => {
    const possible = given.had_agent && !given.fresh && given.native && given.agent_session_id !== null && !given.refused.has("native")
    expect(plan.kind === "native").toBe(possible)
    if (plan.kind === "native") expect(plan.agent_session_id).toBe(given.agent_session_id)
  }))
test("injection comes after native, where the profile allows it", () =>
  always((given, plan) => {
    if (plan.kind !== "inject") return
    expect(given.injects && !given.refused.has("inject")).toBe(true)
    expect(given.native && given.agent_session_id !== null && !given.refused.has("native")).toBe(false)
  }))
test("[9] an agent without memory is started only when asked for, after a better way was refused, or where the conversation was put aside", () =>
  always((given, plan) => {
    const putAside = given.native && given.agent_session_id === null
    if (plan.kind === "idle") expect(given.fresh || given.refused.size > 0 || putAside).toBe(true)
  }))
test("[L1] a fresh start that died before its agent was up is made up for: its messages would wait for ever", () =>
  expect(planResume({ had_agent: true, agent_session_id: null, native: true, injects: false, fresh: false, refused: new Set() })).toEqual({
    kind: "idle",
  }))
test("nothing is started in the place of an agent that cannot come back", () =>
  expect(planResume({ had_agent: true, agent_session_id: null, native: false, injects: false, fresh: false, refused: new Set() })).toEqual({
    kind: "impossible",
  }))
test("a way that was refused is not tried again", () =>
  always((given, plan) => expect((given.refused as ReadonlySet<string>).has(plan.kind)).toBe(false)))

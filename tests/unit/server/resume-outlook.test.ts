import { describe, expect, test } from "vitest"
import { ExecutorStatus, isTerminalState, SessionState } from "../../../lib/contracts/status"
import { planAsItStands, resumeOutlook } from "../../../server/status"
import type { OutlookFacts } from "../../../server/status/resume-outlook"

/** At rest after a restart: a workspace, an agent that was there and is gone, able to load its session. */
const asleep: OutlookFacts = {
  state: "WAITING_FOR_INPUT",
  executor_status: "ready",
  workspace: "present",
  agent: "gone",
  had_agent: true,
  agent_session_id: "agent-session-1",
  native: true,
  injects: false,
}
const outlook = (changes: Partial<OutlookFacts>) => resumeOutlook({ ...asleep, ...changes })

describe("how a session comes back", () => {
  test("case 1: its agent runs, nothing is to be done", () => {
    expect(outlook({ agent: "running" })).toEqual({
      is_agent_running: true,
      is_resumable: true,
      needs_resume: false,
      resume_reason: "already_running",
      resume_strategy: "adopt",
      survival_level: "L4",
    })
  })
  test("case 2: its daemon lives and is silent, so nothing may be done in its place", () => {
    expect(outlook({ executor_status: "unknown" })).toMatchObject({ needs_resume: false, resume_reason: "stale_execution" })
  })
  test("case 3: the agent's own session id is known, so it is loaded", () => {
    expect(outlook({})).toEqual({
      is_agent_running: false,
      is_resumable: true,
      needs_resume: true,
      resume_reason: "agent_not_running",
      resume_strategy: "native",
      survival_level: "L3",
    })
  })
  test("case 4: no id, but history can be handed over, so it starts afresh with that", () => {
    expect(outlook({ agent_session_id: null, native: false, injects: true })).toMatchObject({
      is_resumable: true,
      needs_resume: true,
      resume_reason: "agent_not_running_fresh_start",
      resume_strategy: "inject",
      survival_level: "L3",
    })
  })
  test.each(["COMPLETED", "FAILED", "CANCELLED"] satisfies SessionState[])(
    "a session that is %s is over, whatever its agent could do",
    (state) => {
      for (const agent of ["running", "unsure", "gone"] as const) {
        expect(outlook({ state, agent })).toMatchObject({
          is_resumable: false,
          needs_resume: false,
          resume_reason: "terminal_state",
        })
      }
    },
  )
  test.each(["CREATED", "STARTING", "RUNNING", "WAITING_FOR_INPUT", "ERROR"] satisfies SessionState[])(
    "a session in %s can come back",
    (state) => {
      expect(outlook({ state })).toMatchObject({ is_resumable: true, needs_resume: true })
    },
  )
  test("a missing workspace is said, and nothing is started without it", () => {
    expect(outlook({ workspace: "missing" })).toMatchObject({
      is_resumable: false,
      needs_resume: false,
      resume_reason: "workspace_missing",
      survival_level: "L1",
    })
  })
  test("put away, it keeps its level and waits for a person's word", () => {
    expect(outlook({ workspace: "archived", executor_status: "deleted" })).toEqual({
      is_agent_running: false,
      is_resumable: true,
      needs_resume: false,
      resume_reason: "agent_not_running",
      resume_strategy: "native",
      survival_level: "L3",
    })
    expect(outlook({ workspace: "archived", executor_status: "deleted", agent_session_id: null, native: false })).toMatchObject({
      is_resumable: false,
      resume_reason: "not_resumable",
      survival_level: "L2",
    })
  })
  test("an agent with neither way back is not resumable, and does not ask to be resumed", () => {
    expect(outlook({ agent_session_id: null, native: false })).toMatchObject({
      is_resumable: false,
      needs_resume: false,
      resume_reason: "not_resumable",
      resume_strategy: null,
      survival_level: "L2",
    })
  })
  test("an agent that could load but has no id to load says so", () => {
    expect(outlook({ agent_session_id: null })).toMatchObject({ needs_resume: false, resume_reason: "missing_resume_token" })
  })
  test("an id whose agent said it cannot load is of no use", () => {
    expect(outlook({ native: false })).toMatchObject({ resume_strategy: null, resume_reason: "not_resumable" })
    expect(outlook({ native: false, injects: true })).toMatchObject({ resume_strategy: "inject" })
  })
  test("a session that had no agent yet starts one with its first message; there is nothing to resume", () => {
    const first = { had_agent: false, agent_session_id: null, native: false }
    expect(outlook({ ...first, workspace: "none" })).toMatchObject({
      is_resumable: true,
      needs_resume: false,
      resume_reason: "agent_not_running_fresh_start",
      survival_level: "L1",
    })
    expect(outlook(first).survival_level).toBe("L2")
  })
})

/** Every combination there is, against the table as one reads it: the first row that applies. */
describe("the whole table", () => {
  const all = SessionState.options.flatMap((state) =>
    ExecutorStatus.options.flatMap((executor_status) =>
      (["present", "missing", "none"] as const).flatMap((workspace) =>
        (["running", "unsure", "gone"] as const).flatMap((agent) =>
          [false, true].flatMap((had_agent) =>
            [null, "agent-session-1"].flatMap((agent_session_id) =>
              [false, true].flatMap((native) =>
                [false, true].map(
                  (injects): OutlookFacts => ({ state, executor_status, workspace, agent, had_agent, agent_session_id, native, injects }),
                ),
              ),
            ),
          ),
        ),
      ),
    ),
  )
  type Row = [when: (facts: OutlookFacts) => boolean, reason: string, needs: (facts: OutlookFacts) => boolean]
  const loads = (facts: OutlookFacts) => facts.had_agent && facts.native && facts.agent_session_id !== null
  const isTold = (facts: OutlookFacts) => facts.had_agent && !loads(facts) && facts.injects
  const comesBack = (facts: OutlookFacts) => loads(facts) || isTold(facts)
  const cannot = (facts: OutlookFacts) => facts.had_agent && !comesBack(facts) && !facts.native
  const never = () => false
  const TABLE: Row[] = [
    [(facts) => isTerminalState(facts.state), "terminal_state", never],
    [(facts) => facts.agent === "running", "already_running", never],
    [(facts) => facts.executor_status === "unknown", "stale_execution", never],
    [(facts) => facts.workspace === "missing", "workspace_missing", never],
    [(facts) => facts.executor_status === "error" && !(cannot(facts) && facts.agent === "gone"), "executor_error", comesBack],
    [(facts) => !facts.had_agent, "agent_not_running_fresh_start", never],
    [loads, "agent_not_running", () => true],
    [isTold, "agent_not_running_fresh_start", () => true],
    [(facts) => facts.native, "missing_resume_token", never],
    [() => true, "not_resumable", never],
  ]

  test(`${all.length} combinations, each by its first row`, () => {
    for (const facts of all) {
      const [, reason, needs] = TABLE.find(([when]) => when(facts)) as Row
      const { resume_reason, needs_resume } = resumeOutlook(facts)
      expect({ facts, resume_reason, needs_resume }).toEqual({ facts, resume_reason: reason, needs_resume: needs(facts) })
    }
  })

  test("what is promised is what would be done", () => {
    for (const facts of all) {
      const told = resumeOutlook(facts)
      const plan = planAsItStands(facts)
      const open = !isTerminalState(facts.state) && facts.workspace !== "missing"
      const back = facts.agent === "running" || ["new", "native", "inject"].includes(plan.kind)
      expect({ facts, is_resumable: told.is_resumable }).toEqual({ facts, is_resumable: open && back })
      if (told.needs_resume) expect(["native", "inject"]).toContain(plan.kind)
      if (told.needs_resume) expect(told.is_resumable).toBe(true)
      if (told.resume_strategy === "native" || told.resume_strategy === "inject") expect(plan.kind).toBe(told.resume_strategy)
      if (told.resume_reason === "not_resumable") expect(plan.kind).toBe("impossible")
    }
  })
})

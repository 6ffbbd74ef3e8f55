import { describe, expect, test } from "vitest"
import type { SessionState } from "../../../lib/contracts/status"
import { resumeOutlook } from "../../../server/status"
import type { OutlookFacts } from "../../../server/status/resume-outlook"

/** At rest after a restart: a workspace, an agent that was there and is gone, able to load its session. */
const asleep: OutlookFacts = {
  state: "WAITING_FOR_INPUT",
  executor_status: "ready",
  workspace: "present",
  agent_running: false,
  had_agent: true,
  agent_session_id: "agent-session-1",
  native: true,
  injects: false,
}
const outlook = (changes: Partial<OutlookFacts>) => resumeOutlook({ ...asleep, ...changes })

describe("how a session comes back", () => {
  test("case 1: its agent runs, nothing is to be done", () => {
    expect(outlook({ agent_running: true })).toEqual({
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
      for (const agent_running of [true, false]) {
        expect(outlook({ state, agent_running })).toMatchObject({
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
    const first = { had_agent: false, agent_session_id: null, native: null }
    expect(outlook({ ...first, workspace: "none" })).toMatchObject({
      is_resumable: true,
      needs_resume: false,
      resume_reason: "agent_not_running_fresh_start",
      survival_level: "L1",
    })
    expect(outlook(first).survival_level).toBe("L2")
  })
})

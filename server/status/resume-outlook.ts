import {
  type ExecutorStatus,
  isTerminalState,
  type ResumeReason,
  type ResumeStrategy,
  type SessionState,
  type SurvivalLevel,
} from "../../lib/contracts/status"
import { type ComebackFacts, planAsItStands, type ResumePlan } from "./plan-resume"

export type OutlookFacts = ComebackFacts & {
  state: SessionState
  executor_status: ExecutorStatus
  /** `archived`: put away, to be unpacked when a person wants the task back. */
  workspace: "present" | "missing" | "archived" | "none"
  /** `unsure`: it was there when its executor was last heard of. */
  agent: "running" | "unsure" | "gone"
}
export type Outlook = {
  is_agent_running: boolean
  is_resumable: boolean
  needs_resume: boolean
  resume_reason: ResumeReason
  resume_strategy: ResumeStrategy | null
  survival_level: SurvivalLevel
}

/** Whether and how a session comes back, as people are told: the four cases of a status request, and the level it holds. Pure. */
export function resumeOutlook(facts: OutlookFacts): Outlook {
  const plan = planAsItStands(facts)
  const running = facts.agent === "running"
  const strategy = running ? "adopt" : STRATEGY[plan.kind]
  const remembers = plan.kind === "native" || plan.kind === "inject"
  const { reason, needs_resume } = judge(facts, plan, remembers)
  return {
    is_agent_running: running,
    is_resumable: strategy !== null && !isTerminalState(facts.state) && facts.workspace !== "missing",
    needs_resume,
    resume_reason: reason,
    resume_strategy: strategy,
    survival_level: survivalLevel(facts, remembers),
  }
}

/** A first start is possible and loses nothing. One without memory is no way of coming back, even where it would be done. */
const STRATEGY: Record<ResumePlan["kind"], ResumeStrategy | null> = {
  new: "idle",
  native: "native",
  inject: "inject",
  idle: null,
  impossible: null,
}

function judge(facts: OutlookFacts, plan: ResumePlan, remembers: boolean): { reason: ResumeReason; needs_resume: boolean } {
  const because = (reason: ResumeReason, needs_resume = false) => ({ reason, needs_resume })
  if (isTerminalState(facts.state)) return because("terminal_state")
  if (facts.agent === "running") return because("already_running")
  if (facts.executor_status === "unknown") return because("stale_execution")
  if (facts.workspace === "missing") return because("workspace_missing")
  // Its files come back first, and that is asked of a person.
  if (facts.workspace === "archived") return because(plan.kind === "impossible" ? "not_resumable" : "agent_not_running")
  // An agent that can do neither and is gone stays so, whatever becomes of its executor.
  if (facts.executor_status === "error" && (facts.agent === "unsure" || plan.kind !== "impossible"))
    return because("executor_error", remembers)
  switch (plan.kind) {
    case "new":
      return because("agent_not_running_fresh_start")
    case "native":
      return because("agent_not_running", true)
    case "inject":
      return because("agent_not_running_fresh_start", true)
    case "idle":
      return because("missing_resume_token")
    case "impossible":
      return because("not_resumable")
  }
}

function survivalLevel(facts: OutlookFacts, remembers: boolean): SurvivalLevel {
  if (facts.agent === "running") return "L4"
  if (facts.workspace === "missing") return "L1"
  if (remembers) return "L3"
  return facts.workspace === "none" ? "L1" : "L2"
}

import {
  type ExecutorStatus,
  isTerminalState,
  type ResumeReason,
  type ResumeStrategy,
  type SessionState,
  type SurvivalLevel,
} from "../../lib/contracts/status"

export type OutlookFacts = {
  state: SessionState
  executor_status: ExecutorStatus
  workspace: "present" | "missing" | "none"
  agent_running: boolean
  /** The session has had an agent before; a first start needs no resuming. */
  had_agent: boolean
  agent_session_id: string | null
  /** As the live agent last said; null when it was never asked. */
  native: boolean | null
  injects: boolean
}
export type Outlook = {
  is_agent_running: boolean
  is_resumable: boolean
  needs_resume: boolean
  resume_reason: ResumeReason
  resume_strategy: ResumeStrategy | null
  survival_level: SurvivalLevel
}

/** Whether and how a session comes back: the four cases of a status request, and the level it holds. Pure. */
export function resumeOutlook(facts: OutlookFacts): Outlook {
  const strategy = bestStrategy(facts)
  const outlook = (resume_reason: ResumeReason, needs_resume: boolean): Outlook => ({
    is_agent_running: facts.agent_running,
    is_resumable: strategy !== null && !isTerminalState(facts.state) && facts.workspace !== "missing",
    needs_resume,
    resume_reason,
    resume_strategy: strategy,
    survival_level: survivalLevel(facts, strategy),
  })
  if (isTerminalState(facts.state)) return outlook("terminal_state", false)
  if (facts.agent_running) return outlook("already_running", false)
  if (facts.executor_status === "unknown") return outlook("stale_execution", false)
  if (facts.workspace === "missing") return outlook("workspace_missing", false)
  if (!facts.had_agent) return outlook("agent_not_running_fresh_start", false)
  if (strategy === "native") return outlook("agent_not_running", true)
  if (strategy === "inject") return outlook("agent_not_running_fresh_start", true)
  if (facts.native && !facts.agent_session_id) return outlook("missing_resume_token", false)
  return outlook("not_resumable", false)
}

function bestStrategy(facts: OutlookFacts): ResumeStrategy | null {
  if (facts.agent_running) return "adopt"
  if (facts.agent_session_id && facts.native !== false) return "native"
  if (facts.injects) return "inject"
  return facts.had_agent ? null : "idle"
}

function survivalLevel(facts: OutlookFacts, strategy: ResumeStrategy | null): SurvivalLevel {
  if (facts.agent_running) return "L4"
  if (facts.workspace === "missing") return "L1"
  if (strategy === "native" || strategy === "inject") return "L3"
  return facts.workspace === "present" ? "L2" : "L1"
}

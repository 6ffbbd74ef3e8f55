import { z } from "zod"

export const SessionState = z.enum(["CREATED", "STARTING", "RUNNING", "WAITING_FOR_INPUT", "ERROR", "COMPLETED", "FAILED", "CANCELLED"])
export type SessionState = z.infer<typeof SessionState>
export const isTerminalState = (state: SessionState) => state === "COMPLETED" || state === "FAILED" || state === "CANCELLED"

export const TaskState = z.enum(["IN_PROGRESS", "REVIEW", "PENDING_CONFIRMATION", "COMPLETED", "FAILED", "CANCELLED"])
export type TaskState = z.infer<typeof TaskState>

/** Derived from the journal by `deriveStatus`, never stored as the truth. */
export const SessionStatus = z.enum(["idle", "running", "waiting", "interrupted_waiting", "interrupted_startup"])
export type SessionStatus = z.infer<typeof SessionStatus>

/** `unknown`: the daemon's process lives but does not answer. It is not dead, and nothing may be done in its place. */
export const ExecutorStatus = z.enum(["none", "starting", "ready", "unknown", "error", "stopped", "reaping", "deleted"])
export type ExecutorStatus = z.infer<typeof ExecutorStatus>

export const SurvivalLevel = z.enum(["L0", "L1", "L2", "L3", "L4"])
export type SurvivalLevel = z.infer<typeof SurvivalLevel>

export const AgentStrategy = z.enum(["new", "loaded", "resumed", "injected", "idle", "adopted"])
export type AgentStrategy = z.infer<typeof AgentStrategy>

export const InterruptionReason = z.enum([
  "process_restart",
  "executor_lost",
  "delivery_uncertain",
  "wait_timeout",
  "token_invalid",
  "abandoned",
])
export type InterruptionReason = z.infer<typeof InterruptionReason>

export const ResumeReason = z.enum([
  "already_running",
  "stale_execution",
  "agent_not_running",
  "agent_not_running_fresh_start",
  "not_resumable",
  "missing_resume_token",
  "terminal_state",
  "executor_error",
  "workspace_missing",
])
export type ResumeReason = z.infer<typeof ResumeReason>

export const ResumeStrategy = z.enum(["adopt", "native", "inject", "idle"])
export type ResumeStrategy = z.infer<typeof ResumeStrategy>

export const Interruption = z.object({ run_id: z.string(), reason: InterruptionReason, at: z.string() })
export type Interruption = z.infer<typeof Interruption>

export const SessionStatusReport = z.object({
  session_id: z.string(),
  task_id: z.number().int(),
  state: SessionState,
  status: SessionStatus,
  agent_profile_id: z.string(),
  executor_status: ExecutorStatus,
  /** Its files and processes are on a server that does not answer: what became of them is `unknown` until it does. */
  on_other_server: z.boolean(),
  agent_execution_id: z.string().nullable(),
  runtime: z.string(),
  is_agent_running: z.boolean(),
  is_resumable: z.boolean(),
  needs_resume: z.boolean(),
  resume_reason: ResumeReason,
  resume_strategy: ResumeStrategy.nullable(),
  survival_level: SurvivalLevel,
  worktree_path: z.string().nullable(),
  worktree_branch: z.string().nullable(),
  last_seq: z.number().int(),
  interruption: Interruption.nullable(),
})
export type SessionStatusReport = z.infer<typeof SessionStatusReport>

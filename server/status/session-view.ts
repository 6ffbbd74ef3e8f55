import {
  type ExecutorStatus,
  Interruption,
  type SessionState,
  type SessionStatus,
  type SessionStatusReport,
  type TaskState,
} from "../../lib/contracts/status"
import type { AgentId, Runtime, SessionView, StartPlace, TaskType, TaskView } from "../../lib/contracts/task"
import type { Wait } from "../../lib/contracts/waits"
import { readColumn } from "../platform/columns"
import type { ExecutorRunning, ResumeToken, Session, Task } from "../platform/database"
import { deriveStatus } from "./derive-status"
import { expiresAt, lastActivity } from "./expiry"
import { comebackFacts } from "./plan-resume"
import { type Outlook, type OutlookFacts, resumeOutlook } from "./resume-outlook"

/** Rows of one session, read together. */
export type SessionRows = {
  session: Session
  executor: ExecutorRunning
  tokens: readonly ResumeToken[]
  /** Its place is another server's, and no server answers from there. */
  on_other_server: boolean
}

/** What the rows cannot know. */
export type ViewWorld = {
  now: Date
  /** A live token as the card that asks for an answer. */
  waitOf: (token: ResumeToken) => Wait
  /** The daemon's process lives and does not answer. */
  isSilent: (sessionId: string) => boolean
  startPlaceOf: (sessionId: string) => StartPlace | null
  injects: (agent: AgentId) => boolean
  expire_hours: Record<TaskType, number>
}

const executorStatus = ({ session, executor, on_other_server }: SessionRows, world: ViewWorld): ExecutorStatus =>
  on_other_server || world.isSilent(session.id) ? "unknown" : (executor.status as ExecutorStatus)

export const interruptionOf = ({ id, interruption }: Session) => readColumn(`sessions.interruption ${id}`, interruption, Interruption, null)

export function statusOf({ session, tokens }: Pick<SessionRows, "session" | "tokens">, now: Date): SessionStatus {
  const live = tokens.filter((token) => token.state === "live")
  return deriveStatus(
    {
      open_run: session.open_run_id
        ? {
            run_id: session.open_run_id,
            boot_id: session.run_boot_id ?? "",
            waits: waitsOf(session, live),
          }
        : null,
      interruption: interruptionOf(session),
    },
    // A run of an earlier boot is adopted or interrupted by reconciliation; until that has decided, the last status stands.
    { now, isLivingBoot: () => true, liveTokens: new Set(live.map((token) => token.id)) },
  )
}

/** A question whose token is gone is a wait that nobody can end; one that is being cancelled is no wait any more. */
function waitsOf(session: Session, live: readonly ResumeToken[]) {
  if (session.open_waits === 0) return []
  const lost = session.cancel_requested ? 0 : Math.max(0, session.open_waits - live.length)
  return [
    ...live.map((token) => ({ token_id: token.id, expires_at: token.expires_at })),
    ...Array.from({ length: lost }, () => ({ token_id: "", expires_at: "" })),
  ]
}

function outlookOf(rows: SessionRows, world: ViewWorld, workspace: OutlookFacts["workspace"]): Outlook {
  const { session, executor } = rows
  const status = executorStatus(rows, world)
  return resumeOutlook({
    state: session.state as SessionState,
    executor_status: status,
    workspace,
    agent: executor.agent_execution_id === null ? "gone" : status === "ready" ? "running" : "unsure",
    ...comebackFacts(executor, world.injects(session.agent)),
  })
}

export function toSessionView(rows: SessionRows, world: ViewWorld): SessionView {
  const { session, executor, tokens } = rows
  return {
    id: session.id,
    task_id: session.task_id,
    agent: session.agent,
    runtime: session.runtime as Runtime,
    state: session.state as SessionState,
    status: statusOf(rows, world.now),
    executor_status: executorStatus(rows, world),
    on_other_server: rows.on_other_server,
    start_place: world.startPlaceOf(session.id),
    survival_level: outlookOf(rows, world, isPutAway(executor) ? "archived" : executor.workspace_path ? "present" : "none").survival_level,
    worktree_branch: executor.worktree_branch,
    last_seq: session.last_seq,
    waits: tokens.filter((token) => token.state === "live").map(world.waitOf),
    created_at: session.created_at,
    updated_at: session.updated_at,
  }
}

export function toStatusReport(rows: SessionRows, world: ViewWorld, workspace: OutlookFacts["workspace"]): SessionStatusReport {
  const { session, executor } = rows
  return {
    session_id: session.id,
    task_id: session.task_id,
    state: session.state as SessionState,
    status: statusOf(rows, world.now),
    agent_profile_id: session.agent,
    executor_status: executorStatus(rows, world),
    on_other_server: rows.on_other_server,
    agent_execution_id: executor.agent_execution_id,
    runtime: session.runtime,
    ...outlookOf(rows, world, workspace),
    worktree_path: executor.worktree_path,
    worktree_branch: executor.worktree_branch,
    last_seq: session.last_seq,
    interruption: interruptionOf(session),
  }
}

/** Deleted, or about to be unpacked again: what lies at its place says nothing. */
export const isPutAway = (executor: ExecutorRunning) => executor.status === "deleted" || executor.restore_archive_id !== null

export function toTaskView(task: Task, sessions: readonly SessionRows[], queued: boolean, world: ViewWorld): TaskView {
  const last_activity_at = lastActivity(
    task,
    sessions.map(({ session }) => session),
  )
  const busy = queued || sessions.some(({ session }) => session.open_run_id !== null)
  return {
    id: task.id,
    type: task.type as TaskType,
    title: task.title,
    state: task.state as TaskState,
    agent: task.agent,
    repository: task.repository,
    created_at: task.created_at,
    updated_at: task.updated_at,
    last_activity_at,
    expires_at: expiresAt({ type: task.type as TaskType, last_activity_at, busy, expire_hours: world.expire_hours }),
    hidden_at: task.hidden_at,
    sessions: sessions.map((rows) => toSessionView(rows, world)),
  }
}

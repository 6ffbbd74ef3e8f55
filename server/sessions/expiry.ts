import { AppError } from "../../lib/contracts/errors"
import type { TaskType } from "../../lib/contracts/task"
import type { ExecutorRunning, Task } from "../platform/database"
import { type ExpiryReason, judgeExpiry, lastActivity } from "../status"
import type { SessionDeps } from "./deps"

export type TaskExpiry = { reason: ExpiryReason | null; last_updated_at: string; expire_hours: number; executor: ExecutorRunning }

/** Where a task stands on its way to being put away, as seen from one of its sessions. By index, whatever the database holds. */
export async function loadExpiry(deps: Pick<SessionDeps, "db" | "clock" | "config">, task: Task, sessionId: string): Promise<TaskExpiry> {
  const [sessions, queued, executor] = await Promise.all([
    deps.db.session.findMany({ where: { task_id: task.id }, select: { active_at: true, updated_at: true, open_run_id: true } }),
    deps.db.prompt.count({ where: { task_id: task.id, state: "queued" } }),
    deps.db.executorRunning.findUniqueOrThrow({ where: { session_id: sessionId } }),
  ])
  const last_updated_at = lastActivity(task, sessions)
  const type = task.type as TaskType
  const expire_hours = { chat: deps.config.chat_expire_hours, code: deps.config.code_expire_hours }
  const reason = judgeExpiry(
    {
      type,
      last_activity_at: last_updated_at,
      busy: queued > 0 || sessions.some((session) => session.open_run_id !== null),
      executor_deleted: executor.status === "deleted",
      expire_hours,
    },
    deps.clock.now(),
  )
  return { reason, last_updated_at, expire_hours: expire_hours[type], executor }
}

/** The exact answer clients open their dialog for. */
export const expiredError = (task: Task, expiry: TaskExpiry, reason: ExpiryReason) =>
  new AppError("TASK_EXPIRED_RESTORABLE", `${task.type} task has expired but can be restored`, {
    task_id: task.id,
    task_type: task.type,
    expire_hours: expiry.expire_hours,
    last_updated_at: expiry.last_updated_at,
    reason,
  })

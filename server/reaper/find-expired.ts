import type { Clock } from "../platform/clock"
import type { Config } from "../platform/config"
import type { Database, ExecutorRunning, Session, Task } from "../platform/database"
import { loadExpiry } from "../sessions"

export type FindDeps = { db: Database; clock: Clock; config: Config }
/** An executor whose time is up. `blocked`: why it is not put away now. */
export type Expired = { task: Task; session: Session; executor: ExecutorRunning; expired_at: string; blocked: string | null }

/** More than this in one round would hold up the next. */
const AT_ONCE = 200

/** Executors of expired tasks. Those that cannot be put away now are told with their reason, so that an admin sees them all. */
export async function findExpired({ db, clock, config }: FindDeps): Promise<Expired[]> {
  const now = clock.now()
  const youngest = Math.min(config.chat_expire_hours, config.code_expire_hours)
  const before = new Date(now.getTime() - youngest * 3_600_000).toISOString()
  const executors = await db.executorRunning.findMany({ where: { status: { in: ["ready", "stopped", "error"] } } })
  const idle = await db.session.findMany({
    where: { id: { in: executors.map((row) => row.session_id) }, open_run_id: null, active_at: { lte: before } },
    orderBy: { active_at: "asc" },
    take: AT_ONCE,
  })
  const tasks = await db.task.findMany({ where: { id: { in: idle.map((row) => row.task_id) }, deleted_at: null } })
  const found: Expired[] = []
  for (const session of idle) {
    const task = tasks.find((row) => row.id === session.task_id)
    const executor = executors.find((row) => row.session_id === session.id)
    if (!task || !executor) continue
    const { reason, last_updated_at, expire_hours } = await loadExpiry({ db, clock, config }, task, session.id)
    if (reason !== "expired") continue
    const expired_at = new Date(Date.parse(last_updated_at) + expire_hours * 3_600_000).toISOString()
    found.push({ task, session, executor, expired_at, blocked: blockedBy(executor, now) })
  }
  return found
}

/** Nothing is decided about a place that does not answer, and a failure is not repeated at once. */
function blockedBy(executor: ExecutorRunning, now: Date): string | null {
  if (executor.status === "error" && executor.error_code === "unreachable") return "unreachable"
  if (executor.restore_archive_id !== null) return "restoring"
  if (executor.reap_after !== null && executor.reap_after > now.toISOString()) return "archive_failed"
  return null
}

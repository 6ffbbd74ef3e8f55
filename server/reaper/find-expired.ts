import type { Clock } from "../platform/clock"
import type { Config } from "../platform/config"
import type { Database, ExecutorRunning, Session, Task } from "../platform/database"
import { loadExpiry } from "../sessions"

export type FindDeps = { db: Database; clock: Clock; config: Config }
/** An executor whose time is up. `blocked`: why it is not put away now. */
export type Expired = { task: Task; session: Session; executor: ExecutorRunning; expired_at: string; blocked: string | null }

/** More than this in one round would hold up the next. */
const AT_ONCE = 200

/**
 * Executors of expired tasks, those that can be archived now first. Those that cannot are told with their reason, so that an admin
 * sees them. The query only narrows, so that a round costs the same however many sessions there are; `judgeExpiry` decides.
 */
export async function findExpired({ db, clock, config }: FindDeps): Promise<Expired[]> {
  const now = clock.now()
  const ids = await findUnused(db, {
    now: now.toISOString(),
    chat: hoursBefore(now, config.chat_expire_hours),
    code: hoursBefore(now, config.code_expire_hours),
  })
  const rows = await db.executorRunning.findMany({
    where: { session_id: { in: ids } },
    include: { session: { include: { task: true } } },
  })
  const bySession = new Map(rows.map((row) => [row.session_id, row]))
  const found: Expired[] = []
  for (const id of ids) {
    const executor = bySession.get(id)
    if (!executor) continue
    const { session } = executor
    const { reason, last_updated_at, expire_hours } = await loadExpiry({ db, clock, config }, session.task, session.id)
    if (reason !== "expired") continue
    const expired_at = new Date(Date.parse(last_updated_at) + expire_hours * 3_600_000).toISOString()
    found.push({ task: session.task, session, executor, expired_at, blocked: blockedBy(executor, now) })
  }
  return found
}

const hoursBefore = (now: Date, hours: number) => new Date(now.getTime() - hours * 3_600_000).toISOString()

/** Sessions with an executor whose task nobody has used since these times. What is blocked comes last: it must not keep others waiting. */
async function findUnused(db: Database, since: { now: string; chat: string; code: string }): Promise<string[]> {
  const rows = await db.$queryRaw<{ id: string }[]>`
    SELECT s."id" FROM "executors_running" e
      JOIN "sessions" s ON s."id" = e."session_id"
      JOIN "tasks" t ON t."id" = s."task_id"
    WHERE e."status" IN ('ready', 'stopped', 'error')
      AND t."deleted_at" IS NULL
      AND t."last_activity_at" <= CASE t."type" WHEN 'code' THEN ${since.code} ELSE ${since.chat} END
      AND NOT EXISTS (
        SELECT 1 FROM "sessions" o WHERE o."task_id" = t."id" AND (o."open_run_id" IS NOT NULL
          OR COALESCE(o."active_at", o."updated_at") > CASE t."type" WHEN 'code' THEN ${since.code} ELSE ${since.chat} END))
      AND NOT EXISTS (SELECT 1 FROM "prompts" p WHERE p."task_id" = t."id" AND p."state" = 'queued')
    ORDER BY
      CASE
        WHEN e."error_code" = 'unreachable' OR e."restore_archive_id" IS NOT NULL THEN 2
        WHEN e."reap_after" > ${since.now} THEN 1
        ELSE 0
      END,
      COALESCE(s."active_at", s."updated_at"), s."id"
    LIMIT ${AT_ONCE}`
  return rows.map((row) => row.id)
}

/** Nothing is decided about a place that does not answer, and a failure is not repeated at once. */
function blockedBy(executor: ExecutorRunning, now: Date): string | null {
  if (executor.status === "error" && executor.error_code === "unreachable") return "unreachable"
  if (executor.restore_archive_id !== null) return "restoring"
  if (executor.reap_after !== null && executor.reap_after > now.toISOString()) return "archive_failed"
  return null
}

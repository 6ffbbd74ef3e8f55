import type { ArchiveStore } from "../archive"
import type { Attachments } from "../attachments"
import type { Coordinator } from "../execution"
import type { Logger } from "../platform/logger"
import { type Expired, type FindDeps, findExpired } from "./find-expired"

const DAY_MS = 24 * 3_600_000

export type ReaperDeps = FindDeps & { coordinator: Coordinator; store: ArchiveStore; attachments: Attachments; logger: Logger }

/**
 * Puts expired executors away, one after the other: archived and verified first, never on an uncertain signal. What was attached
 * and never sent goes on its rounds, too.
 */
export function startReaper(deps: ReaperDeps) {
  const { logger, config } = deps
  let round: Promise<void> | null = null
  let stopped = false
  let swept = 0

  async function once() {
    await finishDeletions(deps)
    await deps.attachments.removeUnused()
    for (const expired of await findExpired(deps)) {
      if (stopped) return
      if (expired.blocked === null) await putAway(deps, expired)
    }
    if (Date.now() - swept > DAY_MS) {
      swept = Date.now()
      await deps.store.sweep(DAY_MS)
    }
  }
  const timer = setInterval(() => {
    round ??= once()
      .catch((error) => logger.warn({ err: error }, "the reaper's round failed"))
      .finally(() => {
        round = null
      })
  }, config.reaper_interval_seconds * 1000)
  timer.unref()

  return {
    async stop() {
      stopped = true
      clearInterval(timer)
      await round
    },
  }
}

async function putAway({ coordinator, logger, config, clock }: ReaperDeps, { session, task, expired_at }: Expired): Promise<void> {
  const days = config.archive_force_delete_days
  // Tried once more even then: only if that fails too is it let go without an archive.
  const force = days !== null && clock.now().getTime() - Date.parse(expired_at) > days * DAY_MS
  try {
    const outcome = await coordinator.reap(session.id, { active_at: session.active_at, task_active_at: task.last_activity_at, force })
    logger.info({ session: session.id, outcome }, "expired executor")
  } catch (error) {
    logger.warn({ session: session.id, err: error }, "an expired executor was not put away")
  }
}

/** Deleted in the journal, and perhaps still on disk: a reaper was killed in between. */
async function finishDeletions({ db, coordinator, logger }: ReaperDeps): Promise<void> {
  const rows = await db.executorRunning.findMany({ where: { status: "deleted", trashed_at: null }, select: { session_id: true } })
  for (const { session_id } of rows)
    await coordinator.discard(session_id).catch((error) => logger.warn({ session: session_id, err: error }, "folder not yet in the trash"))
}

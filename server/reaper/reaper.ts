import type { ArchiveStore } from "../archive"
import type { Attachments } from "../attachments"
import type { Coordinator } from "../execution"
import type { Logger } from "../platform/logger"
import { type Expired, type FindDeps, findExpired } from "./find-expired"

const DAY_MS = 24 * 3_600_000

export type ReaperDeps = FindDeps & {
  coordinator: Coordinator
  store: ArchiveStore
  attachments: Attachments
  logger: Logger
  purgeDeletedTasks: () => Promise<void>
}

/** `retryFailed`: also those whose last archive failed and whose next try is not yet due. */
type RoundOptions = { retryFailed: boolean }

/**
 * Archives expired executors, one after the other, and removes them once the archive is verified; never on an uncertain signal.
 * Its rounds also remove attachments that were uploaded and never sent, and what is left of deleted tasks.
 */
export function createReaper(deps: ReaperDeps) {
  const { logger, config } = deps
  let timer: NodeJS.Timeout | null = null
  let stopped = false
  let swept = 0
  // Rounds follow each other: two at once would archive the same executor twice.
  let last: Promise<void> = Promise.resolve()
  let unfinished = 0

  async function once({ retryFailed }: RoundOptions) {
    await finishDeletions(deps)
    await deps.attachments.removeUnused()
    await deps.purgeDeletedTasks()
    for (const expired of await findExpired(deps)) {
      if (stopped) return
      if (isNext(expired, { retryFailed })) await archiveExpired(deps, expired)
    }
    if (Date.now() - swept > DAY_MS) {
      swept = Date.now()
      await deps.store.sweep(DAY_MS)
    }
  }
  function addRound(options: RoundOptions) {
    unfinished += 1
    last = last
      .then(() => (stopped ? undefined : once(options)))
      .catch((error) => logger.warn({ err: error }, "the reaper's round failed"))
      .finally(() => {
        unfinished -= 1
      })
  }

  return {
    start() {
      timer = setInterval(() => {
        if (unfinished === 0) addRound({ retryFailed: false })
      }, config.reaper_interval_seconds * 1000)
      timer.unref()
    },
    /** An admin's round: begins at once, or after the present one. Answers how many executors it will try to archive. */
    async runNow(): Promise<{ due: number }> {
      const options = { retryFailed: true }
      const due = (await findExpired(deps)).filter((expired) => isNext(expired, options)).length
      // A round that has not begun will find these as well: clicking ten times adds one round.
      if (unfinished < 2) addRound(options)
      return { due }
    },
    async stop() {
      stopped = true
      if (timer) clearInterval(timer)
      await last
    },
  }
}

const isNext = ({ blocked }: Expired, { retryFailed }: RoundOptions) => blocked === null || (retryFailed && blocked === "archive_failed")

async function archiveExpired({ coordinator, logger, config, clock }: ReaperDeps, { session, task, expired_at }: Expired): Promise<void> {
  const days = config.archive_force_delete_days
  // Tried once more even then: only if that fails too is it let go without an archive.
  const force = days !== null && clock.now().getTime() - Date.parse(expired_at) > days * DAY_MS
  try {
    const outcome = await coordinator.reap(session.id, { active_at: session.active_at, task_active_at: task.last_activity_at, force })
    logger.info({ session: session.id, outcome }, "expired executor")
  } catch (error) {
    logger.warn({ session: session.id, err: error }, "an expired executor was not archived")
  }
}

/** Deleted in the journal, and perhaps still on disk: a reaper was killed in between. */
async function finishDeletions({ db, coordinator, logger }: ReaperDeps): Promise<void> {
  const rows = await db.executorRunning.findMany({ where: { status: "deleted", trashed_at: null }, select: { session_id: true } })
  for (const { session_id } of rows)
    await coordinator.discard(session_id).catch((error) => logger.warn({ session: session_id, err: error }, "folder not yet in the trash"))
}

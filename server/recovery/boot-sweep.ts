import type { Coordinator } from "../execution"
import { insert, type Journal } from "../journal"
import type { Clock } from "../platform/clock"
import type { Database } from "../platform/database"
import type { Logger } from "../platform/logger"
import type { Boot } from "./boot"

/** More at once would make the fifth agent that starts wait for memory instead of for its turn. */
const PARALLEL = 8

export type SweepDeps = { db: Database; journal: Journal; coordinator: Coordinator; boot: Boot; clock: Clock; logger: Logger }

/**
 * What earlier boots left: sessions with an open run, a waiting prompt, or an executor that was up. Each is claimed and
 * reconciled on its own; one that fails is reported and holds nobody up.
 */
export async function bootSweep({ db, journal, coordinator, boot, clock, logger }: SweepDeps): Promise<void> {
  const started = clock.now()
  const left = await leftBehind(db, boot.id)
  const details: { session_id: string; outcome: string }[] = []
  const work = [...left]
  await Promise.all(
    Array.from({ length: Math.min(PARALLEL, work.length) }, async () => {
      for (let id = work.shift(); id !== undefined; id = work.shift()) {
        try {
          details.push({ session_id: id, outcome: await coordinator.recover(id) })
          coordinator.poke(id)
        } catch (error) {
          logger.error({ session: id, err: error }, "recovery failed")
          details.push({ session_id: id, outcome: "failed" })
        }
      }
    }),
  )
  const count = (outcome: string) => details.filter((detail) => detail.outcome === outcome).length
  const finished = clock.now()
  await journal.write([
    insert("recovery_reports", {
      boot_id: boot.id,
      started_at: started.toISOString(),
      finished_at: finished.toISOString(),
      found: left.length,
      adopted: count("adopted") + count("at_rest"),
      resumed: 0,
      interrupted: count("interrupted"),
      failed: count("failed") + count("undecided"),
      took_ms: finished.getTime() - started.getTime(),
      details: JSON.stringify(details),
    }),
  ])
  logger.info({ found: left.length, took_ms: finished.getTime() - started.getTime() }, "recovery finished")
}

/** By index: neither query grows with history. */
async function leftBehind(db: Database, bootId: string): Promise<string[]> {
  const notMine = { OR: [{ owner_boot_id: null }, { owner_boot_id: { not: bootId } }] }
  const [running, executors, queued] = await Promise.all([
    db.session.findMany({ where: { open_run_id: { not: null }, ...notMine }, select: { id: true } }),
    db.executorRunning.findMany({ where: { status: { in: ["starting", "ready", "error"] } }, select: { session_id: true } }),
    db.prompt.findMany({ where: { state: "queued" }, select: { session_id: true }, distinct: ["session_id"] }),
  ])
  return [...new Set([...running.map((row) => row.id), ...executors.map((row) => row.session_id), ...queued.map((row) => row.session_id)])]
}

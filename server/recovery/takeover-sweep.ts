import { DURATIONS } from "../../lib/host/durations"
import { type Left, leftBehind, recoverSessions, type SweepDeps } from "./boot-sweep"

/** Sessions of servers whose lease ran out: found every few seconds, so that another server goes on without a restart of anything. */
export function startTakeoverSweep(deps: SweepDeps) {
  let running = false
  const timer = setInterval(async () => {
    if (running) return
    running = true
    try {
      const orphaned = await withoutOwner(deps, await leftBehind(deps.db, deps.boot.id, false))
      if (orphaned.length > 0) await recoverSessions(deps, orphaned)
      await deps.boot.endDead()
    } catch (error) {
      deps.logger.warn({ err: error }, "takeover sweep failed")
    } finally {
      running = false
    }
  }, DURATIONS.sweepMs)
  timer.unref()
  return { stop: () => clearInterval(timer) }
}

async function withoutOwner(deps: SweepDeps, left: readonly Left[]): Promise<Left[]> {
  const rows = await deps.db.session.findMany({
    where: { id: { in: left.map(({ id }) => id) } },
    select: { id: true, owner_boot_id: true },
  })
  const boots = [...new Set(rows.map((row) => row.owner_boot_id).filter((id): id is string => id !== null))]
  const alive = new Set<string>()
  for (const boot of boots) if (await deps.boot.isAlive(boot)) alive.add(boot)
  const orphaned = new Set(rows.filter((row) => row.owner_boot_id === null || !alive.has(row.owner_boot_id)).map((row) => row.id))
  return left.filter(({ id }) => orphaned.has(id))
}

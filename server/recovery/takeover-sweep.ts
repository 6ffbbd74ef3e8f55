import { DURATIONS } from "../../lib/host/durations"
import { type Left, leftBehind, recoverSessions, type SweepDeps } from "./boot-sweep"

/** Sessions of servers whose lease ran out: found every few seconds, so that another server goes on without a restart of anything. */
export function startTakeoverSweep(deps: SweepDeps) {
  let running = false
  const timer = setInterval(async () => {
    if (running) return
    running = true
    try {
      const orphaned = await withoutOwner(deps, await leftBehind(deps, { atStart: false, everyone: false }))
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

async function withoutOwner({ boot }: SweepDeps, left: readonly Left[]): Promise<Left[]> {
  const owners = new Set(left.map(({ owner_boot_id }) => owner_boot_id).filter((id): id is string => id !== null))
  const alive = new Set<string>()
  for (const owner of owners) if (await boot.isAlive(owner)) alive.add(owner)
  return left.filter(({ owner_boot_id }) => owner_boot_id === null || !alive.has(owner_boot_id))
}

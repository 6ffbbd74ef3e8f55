import { DURATIONS } from "../../lib/host/durations"
import type { Coordinator } from "../execution"
import type { Clock } from "../platform/clock"
import type { Database } from "../platform/database"
import type { Logger } from "../platform/logger"

/** Questions past their deadline: found by index every few seconds, ended by whoever owns the session. */
export function startWaitSweep({
  db,
  coordinator,
  clock,
  logger,
}: {
  db: Database
  coordinator: Coordinator
  clock: Clock
  logger: Logger
}) {
  const timer = setInterval(async () => {
    try {
      const late = await db.resumeToken.findMany({
        where: { state: "live", expires_at: { lte: clock.now().toISOString() } },
        select: { session_id: true },
        take: 100,
      })
      for (const { session_id } of late) coordinator.expireWaits(session_id)
    } catch (error) {
      logger.warn({ err: error }, "wait sweep failed")
    }
  }, DURATIONS.sweepMs)
  timer.unref()
  return { stop: () => clearInterval(timer) }
}

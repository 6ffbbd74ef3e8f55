import type { ArchiveRun } from "../../lib/contracts/admin"
import type { Rewake } from "./server"
import { runSql } from "./sql"
import { waitUntil } from "./wait-until"

const LONG_AGO = "2020-01-01T00:00:00.000Z"

/** Lets the time pass after which an unused task has expired. */
export async function expireTask(rewake: Rewake, taskId: number): Promise<void> {
  await runSql(rewake.sqlPlace(), "UPDATE tasks SET last_activity_at = ? WHERE id = ?", [LONG_AGO, taskId])
  await runSql(rewake.sqlPlace(), "UPDATE sessions SET active_at = ? WHERE task_id = ?", [LONG_AGO, taskId])
}

/** How many executors this server's reaper has tried to archive; it logs the outcome of each. */
const tries = (rewake: Rewake) => rewake.output.match(/"msg":"(expired executor|an expired executor was not archived)"/g)?.length ?? 0

/** Expires the task and begins rounds of the reaper until `done`: what the agent still reported may have made the task young again. */
export function reapUntil<T>(
  rewake: Rewake,
  taskId: number,
  done: () => Promise<T | null | undefined | false> | T | null | undefined | false,
  what: string,
): Promise<T> {
  // A second round before the first has ended would also retry what the first has just failed to archive.
  let triesBeforeRound: number | null = null
  return waitUntil(async () => {
    const isUnderWay = triesBeforeRound !== null && tries(rewake) === triesBeforeRound
    const found = await done()
    if (found) return found
    if (isUnderWay) return null
    await expireTask(rewake, taskId)
    triesBeforeRound = tries(rewake)
    // The server may be killed by the very round that this begins.
    const answer = await rewake.api<ArchiveRun>("POST", "/api/v1/admin/archives/run").catch(() => null)
    if (answer?.body.due === 0) triesBeforeRound = null
    return null
  }, what)
}

/** Settles with the session's log once its executor was archived and deleted. */
export const archiveTask = (rewake: Rewake, taskId: number, sessionId: string) =>
  reapUntil(
    rewake,
    taskId,
    async () => {
      const log = await rewake.events(sessionId)
      return log.some((event) => event.kind === "executor.deleted") ? log : null
    },
    "the executor to be archived",
  )

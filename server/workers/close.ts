import { DURATIONS } from "../../lib/host/durations"
import { killPoint } from "../../lib/host/kill-point"
import type { Person } from "../auth"
import { isConflict } from "../journal"
import type { Session } from "../platform/database"
import { refOf, requireWorker, type WorkerDeps } from "./deps"

/** Closed by its row first: whatever dies afterwards, nobody can open it again, and what runs in it is ended when it is found. */
export function createCloser(deps: WorkerDeps) {
  const owed = new Map<string, NodeJS.Timeout>()

  async function end(session: Session, workerId: string): Promise<void> {
    const place = await deps.reach(session)
    await place.call((epoch) => place.client.removePty(session.id, epoch, workerId))
  }

  /** For a daemon that did not answer; a server that dies meanwhile leaves it to the one that reconciles the session next. */
  function endLater(sessionId: string, workerId: string) {
    const timer = setTimeout(async () => {
      const session = await deps.db.session.findUnique({ where: { id: sessionId } }).catch(() => null)
      if (!session) return void owed.delete(workerId)
      await end(session, workerId).then(
        () => owed.delete(workerId),
        () => owed.has(workerId) && endLater(sessionId, workerId),
      )
    }, DURATIONS.closeRetryMs)
    timer.unref()
    owed.set(workerId, timer)
  }

  return {
    async close(person: Person, sessionId: string, workerId: string): Promise<void> {
      const { session, worker } = await requireWorker(deps, person, sessionId, workerId)
      try {
        await deps.journal.commit({ session: refOf(session), events: [{ kind: "worker.closed", worker_id: worker.id }] })
      } catch (error) {
        // Another tab closed it in this moment.
        if (!isConflict(error)) throw error
      }
      killPoint("worker.closed")
      if (worker.type === "git-diff") return
      await end(session, worker.id).catch((error) => {
        deps.logger.warn({ session: session.id, worker: worker.id, err: error }, "a closed terminal's executor was not reached yet")
        endLater(session.id, worker.id)
      })
    },
    stop() {
      for (const timer of owed.values()) clearTimeout(timer)
      owed.clear()
    },
  }
}

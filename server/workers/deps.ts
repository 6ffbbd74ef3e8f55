import { AppError } from "../../lib/contracts/errors"
import type { AgentRegistry } from "../agents"
import { type Person, type RuntimeAccess, requireSession } from "../auth"
import type { Reach } from "../execution"
import type { Journal } from "../journal"
import type { Clock } from "../platform/clock"
import type { Database, Session, Worker } from "../platform/database"
import type { KeyedQueue } from "../platform/keyed-queue"
import type { Logger } from "../platform/logger"

export type WorkerDeps = {
  db: Database
  journal: Journal
  clock: Clock
  logger: Logger
  agents: AgentRegistry
  reach: Reach
  /** Who may start or write anything where a session runs. */
  access: RuntimeAccess
  /** One change at a time to a session's tabs: each counts them before it adds one. */
  turns: KeyedQueue
  /** Workers whose process is being replaced by this server: its end is no end. */
  restarting: Set<string>
}

export const refOf = (session: Session) => ({ id: session.id, task_id: session.task_id, user_id: session.user_id })

export const openWorkers = (deps: Pick<WorkerDeps, "db">, sessionId: string): Promise<Worker[]> =>
  deps.db.worker.findMany({ where: { session_id: sessionId, closed_at: null } })

/** Another's worker, and another session's, is answered like one that does not exist. */
export async function requireWorker(
  deps: Pick<WorkerDeps, "db">,
  person: Person,
  sessionId: string,
  workerId: string,
): Promise<{ session: Session; worker: Worker }> {
  const session = await requireSession(deps.db, person, sessionId)
  const worker = await deps.db.worker.findUnique({ where: { id: workerId } })
  if (!worker || worker.session_id !== session.id || worker.closed_at !== null) {
    throw new AppError("NOT_FOUND", "There is no such terminal.", { entity: "worker" })
  }
  return { session, worker }
}

import { AppError } from "../../lib/contracts/errors"
import type { Runtime } from "../../lib/contracts/task"
import { type AgentctlClient, DaemonRefused, DaemonUnreachable, type Executors } from "../executors"
import type { Database, ExecutorRunning, Session } from "../platform/database"
import { executorDiskFull, executorUnreachable } from "../platform/unavailable-error"

/** A session's executor, for whoever uses it without owning the session: any server may, for a person who may. */
export type Place = {
  session: Session
  executor: ExecutorRunning
  client: AgentctlClient
  /** Calls the daemon with the epoch of whoever owns the session now; refusals and silence become what a person can be told. */
  call<T>(work: (epoch: number) => Promise<T>): Promise<T>
}
type ReachDeps = { db: Database; executors: Executors; recover: (sessionId: string) => Promise<unknown> }

/**
 * Finds the daemon of a session whose executor is ready. One that was started since the journal last spoke of it is first reconciled
 * with by the session's owner: until then nobody has taken down what ended with its predecessor.
 */
export function createReach(deps: ReachDeps) {
  async function find(session: Session): Promise<{ executor: ExecutorRunning; client: AgentctlClient | null }> {
    const executor = await deps.db.executorRunning.findUniqueOrThrow({ where: { session_id: session.id } })
    if (executor.status !== "ready") return { executor, client: null }
    const client = await deps.executors[executor.runtime as Runtime].reconnect(executor)
    return { executor, client: client?.endpoint.instance_id === executor.agentctl_instance_id ? client : null }
  }

  return async function reach(session: Session): Promise<Place> {
    let { executor, client } = await find(session)
    if (!deps.executors[executor.runtime as Runtime].isHere(executor)) throw onOtherServer()
    if (!client && executor.status === "ready") {
      await deps.recover(session.id)
      ;({ executor, client } = await find(session))
    }
    if (!client) throw notUsable(executor)
    return { session, executor, client, call: epochCaller(deps.db, session) }
  }
}
export type Reach = ReturnType<typeof createReach>

function epochCaller(db: Database, session: Session): Place["call"] {
  let epoch = session.owner_epoch
  return async (work) => {
    try {
      return await work(epoch)
    } catch (error) {
      if (!isFenced(error)) throw tellable(error)
      // The session changed hands since it was read.
      epoch = (await db.session.findUniqueOrThrow({ where: { id: session.id }, select: { owner_epoch: true } })).owner_epoch
      return work(epoch).catch((refusal) => {
        throw tellable(refusal)
      })
    }
  }
}
const isFenced = (error: unknown) => error instanceof DaemonRefused && error.code === "FENCED"

function tellable(error: unknown): unknown {
  if (error instanceof DaemonUnreachable) return executorUnreachable({ cause: error })
  if (!(error instanceof DaemonRefused)) return error
  if (error.code === "NOT_FOUND") return new AppError("NOT_FOUND", error.message, { entity: "executor" }, { cause: error })
  if (error.code === "DISK_FULL") return executorDiskFull(error.message, { cause: error })
  if (error.code === "FENCED")
    return new AppError("CONFLICT", "Another server is taking this session over. Try again.", {}, { cause: error })
  return new AppError("CONFLICT", error.message, {}, { cause: error })
}

const WHY: Record<string, string> = {
  none: "The executor was not started yet.",
  starting: "The executor is starting.",
  stopped: "The executor is stopped.",
  reaping: "This task is being put away. Continue it first.",
  deleted: "This task was put away. Continue it first.",
}
/** `ready` in the journal, and no daemon of that name answers. */
const isUnreachable = ({ status, error_code }: ExecutorRunning) =>
  status === "ready" || (status === "error" && error_code === "unreachable")
const onOtherServer = () =>
  new AppError("EXECUTOR_UNREACHABLE", "The files and terminals of this session are on another server. Messages reach it from here.", {})
const notUsable = (executor: ExecutorRunning) => {
  const { status, error_message } = executor
  if (isUnreachable(executor)) return executorUnreachable()
  return new AppError("NOT_READY", WHY[status] ?? error_message ?? "The executor is not ready.", { executor_status: status })
}

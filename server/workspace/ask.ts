import { AppError } from "../../lib/contracts/errors"
import { type Person, requireSession } from "../auth"
import { type AgentctlClient, DaemonRefused, DaemonUnreachable } from "../executors"
import type { ExecutorRunning, Session } from "../platform/database"
import { executorDiskFull, executorUnreachable } from "../platform/unavailable-error"
import { isPutAway } from "../status"
import type { WorkspaceDeps } from "./deps"

type Reached = { session: Session; client: AgentctlClient }

/** Asks a session's daemon on behalf of a person; whatever the agent does, and without ever starting anything. */
export async function ask<T>(
  deps: WorkspaceDeps,
  person: Person,
  sessionId: string,
  question: (reached: Reached) => Promise<T>,
): Promise<T> {
  const session = await requireSession(deps.db, person, sessionId)
  return askAs(deps, session, question)
}

/** For a watch that goes on: whoever it is for was asked who they are when it began. */
export async function askForWatch<T>(deps: WorkspaceDeps, sessionId: string, question: (reached: Reached) => Promise<T>): Promise<T> {
  const session = await deps.db.session.findUnique({ where: { id: sessionId } })
  if (!session) throw new AppError("NOT_FOUND", "There is no such session.", { entity: "session" })
  return askAs(deps, session, question)
}

/** For a session that the user was found to own. */
export async function askAs<T>(deps: WorkspaceDeps, session: Session, question: (reached: Reached) => Promise<T>): Promise<T> {
  const executor = await deps.db.executorRunning.findUnique({ where: { session_id: session.id } })
  if (executor && isPutAway(executor)) {
    throw new AppError("WORKSPACE_PUT_AWAY", "The files of this task were put away. Continue the task to bring them back.", {})
  }
  const { client } = await deps.reach(session)
  try {
    return await question({ session, client })
  } catch (error) {
    throw toAppError(error, executor)
  }
}

const notReady = (message: string) => new AppError("NOT_READY", message, {})

/** What a daemon refuses, in the words of the API. */
function toAppError(error: unknown, executor: ExecutorRunning | null): unknown {
  if (error instanceof DaemonUnreachable) return executorUnreachable({ cause: error })
  if (!(error instanceof DaemonRefused)) return error
  const { code, message, body } = error
  switch (code) {
    // The session, or the call: an older daemon knows neither.
    case "NOT_FOUND":
      return notReady("The executor of this session does not show its files yet.")
    case "PATH_MISSING":
      return new AppError("NOT_FOUND", message, { entity: "file" })
    case "PATH_REFUSED":
      return new AppError("PATH_REFUSED", message, { reason: String(body.reason) })
    case "FILE_EXISTS":
    case "FILE_CHANGED": {
      const etag = typeof body.etag === "string" ? body.etag : null
      return new AppError("FILE_CONFLICT", message, { reason: code === "FILE_EXISTS" ? "exists" : "changed", etag })
    }
    case "FILE_TOO_LARGE":
      return new AppError("PAYLOAD_TOO_LARGE", message, { limit_bytes: Number(body.limit_bytes) })
    case "WORKSPACE_MISSING":
      return new AppError("WORKSPACE_NOT_FOUND", message, { path: executor?.worktree_path ?? "" })
    case "NO_REPOSITORY":
      return new AppError("NO_REPOSITORY", message, {})
    case "DISK_FULL":
      return executorDiskFull(message, { cause: error })
    case "FENCED":
      return new AppError("CONFLICT", "Another server works on this session now. Try again.", {})
    case "INVALID_INPUT":
      return new AppError("INVALID_INPUT", message, { issues: [message] })
    default:
      return new AppError("NOT_READY", message, {})
  }
}

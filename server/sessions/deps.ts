import type { AgentRegistry } from "../agents"
import type { RuntimeAccess } from "../auth"
import type { Coordinator } from "../execution"
import type { Journal } from "../journal"
import type { Clock } from "../platform/clock"
import type { Config } from "../platform/config"
import type { Database, Session } from "../platform/database"
import type { KeyedQueue } from "../platform/keyed-queue"
import type { Logger } from "../platform/logger"

export type SessionDeps = {
  db: Database
  journal: Journal
  clock: Clock
  logger: Logger
  config: Config
  agents: AgentRegistry
  /** Who may start or write anything where a session runs. */
  access: RuntimeAccess
  coordinator: Coordinator
  boot_id: string
  /** A deleted task's archives go with it. */
  removeArchive: (location: string) => Promise<void>
  /** Other servers remove what is left of it at their places. */
  tellDeleted: (taskId: number) => void
  /** One change at a time to a session's queue: each reads the places before it takes one. */
  queueTurns: KeyedQueue
  /** The list of this user shows this task; it changed in a way the journal does not tell. */
  announce: (userId: string, taskId: number) => void
}

export const refOf = (session: Session) => ({ id: session.id, task_id: session.task_id, user_id: session.user_id })

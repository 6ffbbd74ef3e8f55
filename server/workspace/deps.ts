import type { AppendResult } from "../../lib/contracts/task"
import type { Person, RuntimeAccess } from "../auth"
import type { Reach } from "../execution"
import type { Change, Journal } from "../journal"
import type { Clock } from "../platform/clock"
import type { Database } from "../platform/database"
import type { KeyedQueue } from "../platform/keyed-queue"
import type { Logger } from "../platform/logger"

type Message = { message: string; session_id: string; client_message_id: string; alongside: (promptId: string) => Change[] }

export type WorkspaceDeps = {
  db: Database
  journal: Journal
  clock: Clock
  logger: Logger
  reach: Reach
  /** Who may start or write anything where a session runs. */
  access: RuntimeAccess
  /** The ordinary way of a message to an agent. */
  append: (person: Person, taskId: number, message: Message) => Promise<AppendResult>
  /** One sending of a session's comments at a time: two would both find the same drafts. */
  sendTurns: KeyedQueue
}

import { AppError } from "../../lib/contracts/errors"
import type { Database, Session, Task } from "../platform/database"
import type { Person } from "./people"

const noTask = () => new AppError("NOT_FOUND", "There is no such task.", { entity: "task" })
const noSession = () => new AppError("NOT_FOUND", "There is no such session.", { entity: "session" })

/** Another's task is answered like one that does not exist: its id must tell nothing. */
export async function requireTask(db: Database, person: Person, taskId: number): Promise<Task> {
  // Beyond a database integer there is nothing to find, and PostgreSQL would refuse to look.
  if (!Number.isInteger(taskId) || taskId < 1 || taskId > 2_147_483_647) throw noTask()
  const task = await db.task.findUnique({ where: { id: taskId } })
  if (!task || task.owner_id !== person.id || task.deleted_at !== null) throw noTask()
  return task
}

export async function requireSession(db: Database, person: Person, sessionId: string): Promise<Session> {
  if (!/^sess_[A-Za-z0-9_-]{1,100}$/.test(sessionId)) throw noSession()
  const session = await db.session.findUnique({ where: { id: sessionId } })
  if (!session || session.user_id !== person.id) throw noSession()
  const task = await db.task.findUnique({ where: { id: session.task_id }, select: { deleted_at: true } })
  if (!task || task.deleted_at !== null) throw noSession()
  return session
}

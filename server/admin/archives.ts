import type { AdminArchives } from "../../lib/contracts/admin"
import type { Config } from "../platform/config"
import type { Archive, Database, ExecutorRunning, Session, Task } from "../platform/database"

export type ArchiveDeps = {
  db: Database
  store: Config["archive"]
  findExpired: () => Promise<{ task: Task; session: Session; executor: ExecutorRunning; expired_at: string; blocked: string | null }[]>
}

const NEWEST = 500

/** The store as an admin sees it: what is kept and failed, newest first, and what goes next. */
export async function listArchives({ db, findExpired, store }: ArchiveDeps): Promise<AdminArchives> {
  const [archives, due, total] = await Promise.all([
    db.archive.findMany({ orderBy: { created_at: "desc" }, take: NEWEST }),
    findExpired(),
    db.archive.aggregate({ where: { state: "ready" }, _sum: { bytes: true }, _count: true }),
  ])
  const tasks = await db.task.findMany({
    where: { id: { in: [...archives, ...due.map(({ session }) => session)].map((row) => row.task_id) } },
    select: { id: true, title: true, owner_id: true },
  })
  const users = await db.user.findMany({ where: { id: { in: tasks.map((row) => row.owner_id) } }, select: { id: true, email: true } })
  const named = (task_id: number) => {
    const task = tasks.find((row) => row.id === task_id)
    return { task_id, title: task?.title ?? "", owner: users.find((user) => user.id === task?.owner_id)?.email ?? "" }
  }
  const lastError = (sessionId: string) => archives.find((row) => row.session_id === sessionId && row.state === "failed")?.error ?? null
  return {
    archives: archives.map((row: Archive) => ({
      ...{ id: row.id, session_id: row.session_id, ...named(row.task_id), state: row.state as "ready" | "failed" },
      ...{ bytes: row.bytes, files: row.files, created_at: row.created_at, error: row.error },
    })),
    due: due.map(({ session, executor, expired_at, blocked }) => ({
      ...{ session_id: session.id, ...named(session.task_id), expired_at, blocked },
      ...{ failures: executor.reap_failures, next_try_at: executor.reap_after, last_error: lastError(session.id) },
    })),
    store: {
      kind: store.kind,
      location: store.kind === "folder" ? store.folder : `s3://${store.bucket}/${store.prefix}`,
      bytes: total._sum.bytes ?? 0,
      count: total._count,
    },
  }
}

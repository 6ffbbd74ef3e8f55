import type { TaskView } from "../../lib/contracts/task"
import { type Person, requireTask } from "../auth"
import { remove, update } from "../journal"
import { decodeCursor, encodeCursor } from "../platform/page-cursor"
import type { SessionDeps } from "./deps"
import { toTitle } from "./limits"
import type { Views } from "./views"

export type ListInput = { cursor?: string | undefined; limit: number; q?: string | undefined; hidden?: "true" | "false" | undefined }

export async function listTasks(
  deps: SessionDeps,
  views: Views,
  person: Person,
  input: ListInput,
): Promise<{ items: TaskView[]; next_cursor: string | null }> {
  const after = input.cursor ? decodeCursor(input.cursor) : null
  // SQLite ignores case by itself, and its client does not know the option.
  const insensitive = deps.config.database.kind === "postgresql" ? ({ mode: "insensitive" } as object) : {}
  const rows = await deps.db.task.findMany({
    where: {
      owner_id: person.id,
      deleted_at: null,
      ...(input.hidden === "true" ? { hidden_at: { not: null } } : { hidden_at: null }),
      ...(input.q ? { title: { contains: input.q, ...insensitive } } : {}),
      ...(after ? { OR: [{ last_activity_at: { lt: after.at } }, { last_activity_at: after.at, id: { lt: Number(after.id) || 0 } }] } : {}),
    },
    orderBy: [{ last_activity_at: "desc" }, { id: "desc" }],
    take: input.limit + 1,
  })
  const page = rows.slice(0, input.limit)
  const last = page.at(-1)
  return {
    items: await views.tasks(page),
    next_cursor: rows.length > input.limit && last ? encodeCursor({ at: last.last_activity_at, id: String(last.id) }) : null,
  }
}

export async function patchTask(
  deps: SessionDeps,
  views: Views,
  person: Person,
  taskId: number,
  patch: { title?: string | undefined; hidden?: boolean | undefined; state?: TaskView["state"] | undefined },
): Promise<TaskView> {
  const task = await requireTask(deps.db, person, taskId)
  const now = deps.clock.now().toISOString()
  await deps.journal.write([
    update(
      "tasks",
      { id: task.id },
      {
        updated_at: now,
        ...(patch.title === undefined ? {} : { title: toTitle(patch.title) }),
        ...(patch.hidden === undefined ? {} : { hidden_at: patch.hidden ? now : null }),
        ...(patch.state === undefined ? {} : { state: patch.state }),
      },
    ),
  ])
  deps.announce(person.id, task.id)
  return views.task(await requireTask(deps.db, person, taskId))
}

/** Gone at once for everybody; its agents and files follow. A task whose executor cannot be reached keeps its rows until it can. */
export async function deleteTask(deps: SessionDeps, person: Person, taskId: number): Promise<void> {
  const task = await requireTask(deps.db, person, taskId)
  await deps.journal.write([update("tasks", { id: task.id, deleted_at: null }, { deleted_at: deps.clock.now().toISOString() })])
  deps.announce(person.id, task.id)
  void purgeTask(deps, task.id).then((isGone) => {
    // Its sessions may be at other servers' places.
    if (!isGone) deps.tellDeleted(task.id)
  })
}

/** Removes what this server can; true when nothing is left. The rest is tried again, here and by the servers that are at its place. */
export async function purgeTask(deps: SessionDeps, taskId: number): Promise<boolean> {
  try {
    const sessions = await deps.db.session.findMany({ where: { task_id: taskId }, select: { id: true } })
    for (const { id } of sessions) {
      await purgeSession(deps, id).catch((error) =>
        deps.logger.warn({ task: taskId, session: id, err: error }, "session of a deleted task kept until its executor can be reached"),
      )
    }
    if ((await deps.db.session.count({ where: { task_id: taskId } })) > 0) return false
    await deps.journal.write([remove("tasks", { id: taskId })])
    return true
  } catch (error) {
    deps.logger.warn({ task: taskId, err: error }, "deleted task could not be removed yet")
    return false
  }
}

export async function purgeDeletedTasks(deps: SessionDeps): Promise<void> {
  const deleted = await deps.db.task.findMany({ where: { deleted_at: { not: null } }, select: { id: true } })
  for (const { id } of deleted) await purgeTask(deps, id)
}

async function purgeSession(deps: SessionDeps, id: string): Promise<void> {
  await deps.coordinator.remove(id)
  const archives = await deps.db.archive.findMany({ where: { session_id: id, location: { not: null } }, select: { location: true } })
  for (const { location } of archives) if (location) await deps.removeArchive(location)
  await deps.journal.write([
    remove("archives", { session_id: id }),
    remove("session_events", { session_id: id }),
    remove("prompts", { session_id: id }),
    remove("attachments", { session_id: id }),
    remove("review_comments", { session_id: id }),
    remove("resume_tokens", { session_id: id }),
    remove("workers", { session_id: id }),
    remove("executors_running", { session_id: id }),
    remove("sessions", { id }),
  ])
}

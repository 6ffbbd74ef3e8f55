import { createHash } from "node:crypto"
import { AppError } from "../../lib/contracts/errors"
import type { NewEvent } from "../../lib/contracts/events"
import type { LeftOut } from "../../lib/contracts/left-out"
import { type RestorePreview, RestoreResult, type RestoreTask } from "../../lib/contracts/restore"
import { isTerminalState, type SessionState, type TaskState } from "../../lib/contracts/status"
import type { TaskType } from "../../lib/contracts/task"
import { killPoint } from "../../lib/host/kill-point"
import { findWanted, requireFree, taken } from "../attachments"
import { type Person, requireSession, requireTask } from "../auth"
import { guard, isConflict, parseRow, StoreRefused, update } from "../journal"
import { readColumn } from "../platform/columns"
import type { ExecutorRunning, Session, Task } from "../platform/database"
import { newestSession, requireResumable, requireSameMessage } from "./append-message"
import { queued } from "./create-task"
import type { SessionDeps } from "./deps"
import { loadExpiry, type TaskExpiry } from "./expiry"
import { requireMessageSize } from "./limits"
import type { Views } from "./views"

/** Restorable whether expired or not; a task at work or waiting for a look only when it has expired. */
const ALWAYS: ReadonlySet<TaskState> = new Set<TaskState>(["COMPLETED", "FAILED", "CANCELLED", "PENDING_CONFIRMATION"])

/**
 * Brings an expired task back. One commit undoes the expiry, marks the archive to be unpacked and accepts the message; unpacking
 * happens when the session wakes. Asked twice, by the same or another tab, it restores once and answers alike.
 */
export async function restoreTask(deps: SessionDeps, person: Person, taskId: number, input: RestoreTask): Promise<RestoreResult> {
  if (input.message !== undefined) requireMessageSize(input.message, deps.config.max_message_bytes)
  const task = await requireTask(deps.db, person, taskId)
  const { id } = task
  const sessionId = await sessionToRestore(deps, person, task, input.session_id)
  return deps.queueTurns.run(sessionId, async () => {
    for (let refusals = 0; ; ) {
      try {
        return await restoreNow(deps, person, id, sessionId, input)
      } catch (error) {
        // Another tab or server was first, or the executor is being archived in this very moment: look again.
        if (isConflict(error)) continue
        // The same message arrived at two servers at once: the next look finds it.
        if (!(error instanceof StoreRefused) || refusals++ > 0) throw error
      }
    }
  })
}

/**
 * A further session may be at work while an older one of the task lies in its archive: whoever is told that one has expired must
 * be able to bring it back.
 */
async function sessionToRestore(deps: SessionDeps, person: Person, task: Task, wanted: string | undefined): Promise<string> {
  if (wanted !== undefined) {
    const session = await requireSession(deps.db, person, wanted)
    if (session.task_id !== task.id) throw new AppError("NOT_FOUND", "There is no such session in this task.", { entity: "session" })
    return wanted
  }
  const newest = await newestSession(deps, task.id)
  if ((await loadExpiry(deps, task, newest)).reason !== null) return newest
  const away = await deps.db.executorRunning.findFirst({
    where: { task_id: task.id, status: "deleted" },
    orderBy: { created_at: "desc" },
    select: { session_id: true },
  })
  return away?.session_id ?? newest
}

async function restoreNow(
  deps: SessionDeps,
  person: Person,
  taskId: number,
  sessionId: string,
  input: RestoreTask,
): Promise<RestoreResult> {
  const task = await requireTask(deps.db, person, taskId)
  const session = await requireSession(deps.db, person, sessionId)
  await deps.access.require(person, session.runtime)
  const expiry = await loadExpiry(deps, task, sessionId)
  const back = expiry.reason === null && !ALWAYS.has(task.state as TaskState)
  const last = readColumn(`tasks.last_restore ${task.id}`, task.last_restore, RestoreResult, null)
  if (back && last === null)
    throw new AppError("TASK_NOT_RESTORABLE", "This task has not expired: write to it as it is.", { state: task.state })

  const wanted = await findWanted(deps.db, person.id, input.attachments)
  const restores = back ? task.restores : task.restores + 1
  const clientId = input.client_message_id ?? (input.message === undefined ? null : textKey(restores, input.message, wanted.ids))
  const known = clientId ? await deps.db.prompt.findFirst({ where: { task_id: task.id, client_message_id: clientId } }) : null
  if (known && input.message !== undefined)
    await requireSameMessage(deps, known, { message: input.message, attachments: input.attachments })
  const message = input.message !== undefined && !known ? input.message : null
  const attachments = message === null ? [] : requireFree(wanted)
  if (message !== null) requireResumable(deps, expiry.executor, session.agent)

  const answer = back && last ? last : answerFor(task, expiry)
  if (!back) await reviveOthers(deps, person, task, session)
  const at = deps.clock.now().toISOString()
  const rows = back
    ? {}
    : { restores, last_restore: JSON.stringify(answer), ...(message === null && !known ? { state: "REVIEW" } : {}), hidden_at: null }
  if (!back || message !== null) {
    await deps.journal.commit({
      session: { id: session.id, task_id: task.id, user_id: session.user_id },
      guards: [
        guard("executors_running", {
          id: expiry.executor.id,
          status: expiry.executor.status,
          generation: expiry.executor.generation,
        }),
      ],
      rows: [
        update(
          "tasks",
          { id: task.id, restores: task.restores },
          { updated_at: at, last_activity_at: at, ...rows, ...(message === null ? {} : { state: "IN_PROGRESS" }) },
        ),
        ...taken(attachments, session.id),
      ],
      events: [
        ...(back ? [] : await revive(deps, expiry.executor)),
        ...(isTerminalState(session.state as SessionState) ? [reopened(session)] : []),
        ...(message === null ? [] : queued(message, attachments, await lastRank(deps, session.id), clientId).events),
      ],
    })
  }
  killPoint("restore.accepted")
  deps.coordinator.poke(session.id, { wake: true })
  deps.announce(person.id, task.id)
  return answer
}

const answerFor = (task: Task, { executor }: TaskExpiry): RestoreResult => {
  const executor_rebuilt = executor.status === "deleted"
  const message = executor_rebuilt
    ? `${task.type} task restored; its executor is rebuilt from the archive`
    : `${task.type} task restored; its executor was still there`
  return { success: true, task_id: task.id, task_type: task.type as TaskType, executor_rebuilt, message }
}

/** Without an id what it says names the message: a second click on the same dialog is the same message. */
const textKey = (restores: number, message: string, attachments: readonly string[]) =>
  `restore:${restores}:${createHash("sha256")
    .update([message, ...attachments].join("\0"))
    .digest("hex")}`

const reopened = (session: Session): NewEvent => ({
  kind: "session.state_changed",
  from: session.state as SessionState,
  to: "WAITING_FOR_INPUT",
  cause: "restored",
})

/** An executor that still lives is kept as it is; one about to be archived is taken back; a deleted one is marked for its archive. */
async function revive(deps: Pick<SessionDeps, "db">, executor: ExecutorRunning): Promise<NewEvent[]> {
  if (executor.status === "reaping") return [{ kind: "restore.requested", executor_id: executor.id, archive_id: null }]
  if (executor.status !== "deleted") return []
  const archive = await latestArchive(deps, executor.session_id)
  return [{ kind: "restore.requested", executor_id: executor.id, archive_id: archive?.id ?? null }]
}

/** The task's other sessions come back too, each when it is next used. Before the task itself: a repeat finds what is left to do. */
async function reviveOthers(deps: SessionDeps, person: Person, task: Task, main: Session): Promise<void> {
  const others = await deps.db.executorRunning.findMany({
    where: { task_id: task.id, session_id: { not: main.id }, status: { in: ["deleted", "reaping"] } },
  })
  for (const executor of others) {
    await deps.journal.commit({
      session: { id: executor.session_id, task_id: task.id, user_id: person.id },
      guards: [guard("executors_running", { id: executor.id, status: executor.status, generation: executor.generation })],
      events: await revive(deps, executor),
    })
  }
}

const latestArchive = (deps: Pick<SessionDeps, "db">, sessionId: string) =>
  deps.db.archive.findFirst({ where: { session_id: sessionId, state: "ready" }, orderBy: { created_at: "desc" } })

async function lastRank(deps: Pick<SessionDeps, "db">, sessionId: string): Promise<number> {
  const last = await deps.db.prompt.findFirst({
    where: { session_id: sessionId, state: { in: ["queued", "held"] } },
    orderBy: { rank: "desc" },
    select: { rank: true },
  })
  return (last?.rank ?? -1) + 1
}

const MEMORY = { adopt: "kept", native: "native", inject: "injected", idle: "none" } as const

/** What would come back, from what is known without touching anything. */
export async function previewRestore(
  deps: SessionDeps,
  views: Views,
  person: Person,
  taskId: number,
  wanted: string | undefined,
): Promise<RestorePreview> {
  const task = await requireTask(deps.db, person, taskId)
  const sessionId = await sessionToRestore(deps, person, task, wanted)
  const session = await requireSession(deps.db, person, sessionId)
  const { reason, last_updated_at, expire_hours, executor } = await loadExpiry(deps, task, sessionId)
  const { resume_strategy } = await views.status(session)
  return {
    task_id: task.id,
    task_type: task.type as TaskType,
    session_id: sessionId,
    reason,
    expire_hours,
    last_updated_at,
    files: await filesToCome(deps, task, executor),
    memory: resume_strategy ? MEMORY[resume_strategy] : "none",
    progress: deps.coordinator.restoreProgress(sessionId),
  }
}

async function filesToCome(deps: SessionDeps, task: Task, executor: ExecutorRunning): Promise<RestorePreview["files"]> {
  if (executor.status !== "deleted" && executor.restore_archive_id === null) return { kind: "kept" }
  const archive = await latestArchive(deps, executor.session_id)
  if (archive) {
    const { id, created_at, bytes, files } = archive
    return { kind: "archive", created_at, bytes: bytes ?? 0, files: files ?? 0, left_out: await leftOutOf(deps, executor.session_id, id) }
  }
  return task.repository && executor.worktree_branch ? { kind: "recreated", branch: executor.worktree_branch } : { kind: "lost" }
}

/** The event is near the end of the log: a session that is archived says little after it. */
async function leftOutOf({ db }: Pick<SessionDeps, "db">, session_id: string, archiveId: string): Promise<LeftOut | null> {
  const row = await db.sessionEvent.findFirst({ where: { session_id, kind: "archive.created" }, orderBy: { seq: "desc" } })
  const event = row && parseRow(row)
  return event?.kind === "archive.created" && event.archive_id === archiveId ? (event.left_out ?? null) : null
}

import { z } from "zod"
import { type AdminExecutor, type AdminFilter, type AdminSessions, type Recovery, RecoveryOutcome } from "../../lib/contracts/admin"
import { AppError } from "../../lib/contracts/errors"
import type { Coordinator } from "../execution"
import { readColumn } from "../platform/columns"
import type { Session } from "../platform/database"
import { inPortions } from "../platform/in-portions"
import { decodeCursor, encodeCursor } from "../platform/page-cursor"
import type { Sessions } from "../sessions"
import { type ArchiveDeps, listArchives } from "./archives"

const Outcomes = z.array(RecoveryOutcome.omit({ task_id: true, title: true }))

type Deps = {
  sessions: Sessions
  coordinator: Coordinator
  insensitive: boolean
  archiveExpiredNow: () => Promise<{ due: number }>
} & ArchiveDeps
type Query = { filter: AdminFilter; q?: string | undefined; cursor?: string | undefined; limit: number }

/** Filters as conditions on columns the log keeps: no session has to be derived to be counted. */
const FILTERS: Record<AdminFilter, object> = {
  all: {},
  running: { open_run_id: { not: null }, open_waits: 0 },
  waiting: { open_waits: { gt: 0 } },
  interrupted: { open_run_id: null, interruption: { not: null } },
  agent_gone: { state: "WAITING_FOR_INPUT", open_run_id: null, executor: { is: { agent_execution_id: null } } },
  executor_error: { state: "ERROR" },
}
const RECOVERIES = 50

/** The queries behind the status pages, and what an admin may do there: resume or stop a session, archive what has expired. */
export function createSystemStatus({ db, sessions, coordinator, insensitive, findExpired, archiveExpiredNow, store }: Deps) {
  async function listSessions(query: Query): Promise<AdminSessions> {
    const title = { contains: query.q, ...(insensitive ? { mode: "insensitive" } : {}) } as object
    const after = query.cursor ? decodeCursor(query.cursor) : null
    const rows = await db.session.findMany({
      where: {
        ...FILTERS[query.filter],
        ...(query.q ? { task: { title } } : {}),
        ...(after ? { OR: [{ updated_at: { lt: after.at } }, { updated_at: after.at, id: { lt: after.id } }] } : {}),
      },
      orderBy: [{ updated_at: "desc" }, { id: "desc" }],
      take: query.limit + 1,
    })
    const page = rows.slice(0, query.limit)
    const last = page.at(-1)
    const kinds = Object.keys(FILTERS) as AdminFilter[]
    const counts = await Promise.all(kinds.map(async (kind) => [kind, await db.session.count({ where: FILTERS[kind] })] as const))
    return {
      items: await describe(page),
      next_cursor: rows.length > query.limit && last ? encodeCursor({ at: last.updated_at, id: last.id }) : null,
      counts: Object.fromEntries(counts) as AdminSessions["counts"],
    }
  }

  async function describe(page: Session[]): Promise<AdminSessions["items"]> {
    const [tasks, users, executors] = await Promise.all([
      db.task.findMany({ where: { id: { in: page.map((row) => row.task_id) } } }),
      db.user.findMany({ where: { id: { in: page.map((row) => row.user_id) } }, select: { id: true, email: true } }),
      db.executorRunning.findMany({ where: { session_id: { in: page.map((row) => row.id) } } }),
    ])
    return Promise.all(
      page.map(async (row) => {
        const executor = executors.find((candidate) => candidate.session_id === row.id)
        return {
          ...(await sessions.statusOf(row)),
          title: tasks.find((task) => task.id === row.task_id)?.title ?? "",
          owner: users.find((user) => user.id === row.user_id)?.email ?? "",
          last_seen_at: executor?.last_seen_at ?? null,
          updated_at: row.updated_at,
          error_message: executor?.error_message ?? null,
        }
      }),
    )
  }

  async function listRecoveries(): Promise<{ items: Recovery[] }> {
    const [reports, boots] = await Promise.all([
      db.recoveryReport.findMany({ orderBy: { started_at: "desc" }, take: RECOVERIES }),
      db.boot.findMany({ orderBy: { started_at: "desc" }, take: RECOVERIES }),
    ])
    const details = new Map(
      reports.map(({ boot_id, details }) => [boot_id, readColumn(`recovery_reports.details ${boot_id}`, details, Outcomes, [])]),
    )
    const ids = [...new Set([...details.values()].flat().map((item) => item.session_id))]
    const found = await inPortions(ids, (portion) =>
      db.session.findMany({ where: { id: { in: portion } }, select: { id: true, task: { select: { id: true, title: true } } } }),
    )
    const tasks = new Map(found.map(({ id, task }) => [id, task]))
    return {
      items: reports.map(({ details: _details, ...report }) => {
        const boot = boots.find((candidate) => candidate.id === report.boot_id)
        return {
          ...report,
          hostname: boot?.hostname ?? "",
          ended_at: boot?.ended_at ?? null,
          sessions: (details.get(report.boot_id) ?? []).map((item) => {
            const task = tasks.get(item.session_id)
            return { ...item, task_id: task?.id ?? null, title: task?.title ?? null }
          }),
        }
      }),
    }
  }

  async function listExecutors(): Promise<{ items: z.infer<typeof AdminExecutor>[] }> {
    const rows = await db.executorRunning.findMany({
      where: { status: { notIn: ["none", "deleted"] } },
      orderBy: { updated_at: "desc" },
      take: 500,
    })
    return {
      items: rows.map((row) => ({
        id: row.id,
        session_id: row.session_id,
        task_id: row.task_id,
        runtime: row.runtime,
        status: coordinator.isSilent(row.session_id) ? "unknown" : row.status,
        agentctl_instance_id: row.agentctl_instance_id,
        agent_execution_id: row.agent_execution_id,
        workspace_path: row.workspace_path,
        last_seen_at: row.last_seen_at,
        error_message: row.error_message,
      })),
    }
  }

  async function act(sessionId: string, action: "resume" | "stop"): Promise<void> {
    const session = await db.session.findUnique({ where: { id: sessionId } })
    if (!session) throw new AppError("NOT_FOUND", "There is no such session.", { entity: "session" })
    if (action === "resume") coordinator.poke(session.id, { wake: true })
    else await coordinator.stop(session.id)
  }

  return {
    listSessions,
    listRecoveries,
    listExecutors,
    listArchives: () => listArchives({ db, findExpired, store }),
    archiveExpiredNow,
    act,
  }
}
export type SystemStatus = ReturnType<typeof createSystemStatus>

import { existsSync } from "node:fs"
import type { SessionStatusReport } from "../../lib/contracts/status"
import type { AgentId, SessionView, TaskView } from "../../lib/contracts/task"
import type { ExecutorRunning, Session, Task } from "../platform/database"
import { toWait } from "../resume-tokens"
import { isPutAway, type SessionRows, toSessionView, toStatusReport, toTaskView, type ViewWorld } from "../status"
import type { SessionDeps } from "./deps"
import { loadExpiry } from "./expiry"

type OfTasks = { task_id: { in: number[] } }

/** Rows → what people see, for one session or a page of tasks; a fixed number of queries whatever the page holds. */
export function createViews({ db, clock, config, coordinator, agents }: SessionDeps) {
  const world = (): ViewWorld => ({
    now: clock.now(),
    waitOf: (token) => toWait(config.auth_secrets, token),
    isSilent: coordinator.isSilent,
    startPlaceOf: coordinator.startPlaceOf,
    injects: (agent: AgentId) => agents.get(agent).history_context_injection,
    expire_hours: { chat: config.chat_expire_hours, code: config.code_expire_hours },
  })

  /** `which` finds the same sessions from the rows beside them. */
  async function rowsOf(sessions: readonly Session[], which: { session_id: string } | { session: OfTasks }): Promise<SessionRows[]> {
    const [executors, tokens] = await Promise.all([
      db.executorRunning.findMany({ where: which }),
      db.resumeToken.findMany({ where: { ...which, state: "live" }, orderBy: { minted_at: "asc" } }),
    ])
    const rows: SessionRows[] = []
    const answered = new Map<string, Promise<boolean>>()
    for (const session of sessions) {
      const executor = executors.find((row) => row.session_id === session.id)
      if (!executor) continue
      const on_other_server = !coordinator.isHere(executor) && !(await isAnswered(session, executor, answered))
      rows.push({ session, executor, tokens: tokens.filter((token) => token.session_id === session.id), on_other_server })
    }
    return rows
  }

  /** By the server that owns it, or by one at its place that would. Looked up once for all sessions of a boot or place. */
  async function isAnswered(
    { owner_boot_id: owner }: Session,
    { place_id }: ExecutorRunning,
    known: Map<string, Promise<boolean>>,
  ): Promise<boolean> {
    const once = (key: string, look: () => Promise<boolean>) => {
      const looked = known.get(key) ?? look()
      known.set(key, looked)
      return looked
    }
    if (owner !== null && (await once(owner, () => coordinator.isBootAlive(owner)))) return true
    return place_id !== null && (await once(place_id, () => coordinator.isPlaceServed(place_id)))
  }

  async function tasks(page: readonly Task[]): Promise<TaskView[]> {
    // A page is bounded; the sessions of its tasks are not.
    const ofPage: OfTasks = { task_id: { in: page.map((task) => task.id) } }
    const [sessions, queued] = await Promise.all([
      db.session.findMany({ where: ofPage, orderBy: { created_at: "asc" } }),
      db.prompt.findMany({ where: { ...ofPage, state: "queued" }, select: { task_id: true } }),
    ])
    const rows = await rowsOf(sessions, { session: ofPage })
    const busy = new Set(queued.map((prompt) => prompt.task_id))
    return page.map((task) =>
      toTaskView(
        task,
        rows.filter(({ session }) => session.task_id === task.id),
        busy.has(task.id),
        world(),
      ),
    )
  }

  async function session(row: Session): Promise<SessionView> {
    const [rows] = await rowsOf([row], { session_id: row.id })
    return toSessionView(rows as SessionRows, world())
  }

  async function status(row: Session): Promise<SessionStatusReport> {
    await coordinator.healStarting(row)
    const [rows] = await rowsOf([row], { session_id: row.id })
    const { executor } = rows as SessionRows
    const workspace = coordinator.isHere(executor) ? workspaceOf(executor) : isPutAway(executor) ? "archived" : "present"
    const report = toStatusReport(rows as SessionRows, world(), workspace)
    // A task whose time is up stays asleep until somebody writes to it, and is asked whether it shall go on.
    return report.needs_resume && (await hasExpired(row)) ? { ...report, needs_resume: false } : report
  }

  async function hasExpired(row: Session): Promise<boolean> {
    const task = await db.task.findUnique({ where: { id: row.task_id } })
    return task !== null && (await loadExpiry({ db, clock, config }, task, row.id)).reason !== null
  }

  return { tasks, session, status, hasExpired, task: async (row: Task) => (await tasks([row]))[0] as TaskView }
}
function workspaceOf(executor: ExecutorRunning): "present" | "missing" | "archived" | "none" {
  if (isPutAway(executor)) return "archived"
  const path = executor.runtime === "standalone" ? executor.worktree_path : null
  return path === null ? "none" : existsSync(path) ? "present" : "missing"
}

export type Views = ReturnType<typeof createViews>

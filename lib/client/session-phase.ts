import type { SessionView, StartPlace, TaskView } from "@/lib/contracts/task"
import { formatUntil } from "./format"

/** What a person sees of a session at a glance; each has its own glyph and word. */
export type Phase = "needs_you" | "working" | "interrupted" | "error" | "idle" | "asleep" | "completed"

export const phaseWord: Record<Phase, string> = {
  needs_you: "needs you",
  working: "working",
  interrupted: "interrupted",
  error: "error",
  idle: "idle",
  asleep: "asleep",
  completed: "completed",
}

type PhaseFacts = Pick<SessionView, "state" | "status" | "executor_status"> & { waits?: readonly unknown[] }

export function phaseOf(session: PhaseFacts): Phase {
  if ((session.waits?.length ?? 0) > 0 || session.status === "waiting") return "needs_you"
  if (session.state === "ERROR" || session.state === "FAILED" || session.executor_status === "error") return "error"
  if (session.status === "interrupted_startup" || session.status === "interrupted_waiting") return "interrupted"
  if (session.status === "running" || session.state === "STARTING") return "working"
  if (session.state === "COMPLETED" || session.state === "CANCELLED") return "completed"
  const awake = session.executor_status === "ready" || session.executor_status === "starting" || session.executor_status === "unknown"
  return awake || session.state === "CREATED" ? "idle" : "asleep"
}

export const newestSession = (task: TaskView): SessionView | undefined =>
  task.sessions.reduce<SessionView | undefined>((newest, s) => (newest && newest.created_at >= s.created_at ? newest : s), undefined)

/** The session that speaks for its task: one that needs a person, else one that works, else the newest. */
export function leadingSession(task: TaskView): SessionView | undefined {
  return task.sessions.find((s) => phaseOf(s) === "needs_you") ?? task.sessions.find((s) => phaseOf(s) === "working") ?? newestSession(task)
}

/** Unused for longer than its kind is kept: a message asks first whether it should come back. */
export const isExpired = (task: TaskView, now: number) => task.expires_at !== null && Date.parse(task.expires_at) <= now

export function taskPhase(task: TaskView, now = Date.now()): Phase {
  const lead = leadingSession(task)
  const phase = lead ? phaseOf(lead) : "idle"
  if (phase === "idle" && isExpired(task, now)) return "asleep"
  const ended = task.state === "COMPLETED" || task.state === "CANCELLED"
  return ended && phase !== "needs_you" && phase !== "working" ? "completed" : phase
}

export type TaskGroups = { needsYou: TaskView[]; working: TaskView[]; recent: TaskView[] }

export function groupTasks(tasks: readonly TaskView[]): TaskGroups {
  const groups: TaskGroups = { needsYou: [], working: [], recent: [] }
  for (const task of [...tasks].sort((a, b) => b.last_activity_at.localeCompare(a.last_activity_at))) {
    const phase = taskPhase(task)
    if (phase === "needs_you") groups.needsYou.push(task)
    else if (phase === "working") groups.working.push(task)
    else groups.recent.push(task)
  }
  return groups
}

export const placeWords = ({ position, waiting }: StartPlace) => (position === 1 ? "next in line" : `${position} of ${waiting} in line`)

/** The list's second line: the state in words, and what would help to know next. */
export function taskSubline(task: TaskView, agentName: string, now = Date.now()): string {
  const phase = taskPhase(task, now)
  switch (phase) {
    case "needs_you":
      return leadingSession(task)?.waits[0]?.title ?? "needs you"
    case "working":
      return `working · ${agentName}`
    case "asleep":
      if (leadingSession(task)?.start_place) return "waiting for a free agent"
      return isExpired(task, now) || leadingSession(task)?.executor_status === "deleted"
        ? "asleep · can be continued"
        : `asleep · ${expiresSoon(task, now) ?? "wakes on a message"}`
    case "completed":
      return task.state === "CANCELLED" ? "cancelled" : "completed"
    case "idle":
    case "interrupted":
    case "error":
      if (leadingSession(task)?.start_place) return "waiting for a free agent"
      return `${phaseWord[phase]} · ${expiresSoon(task, now) ?? (task.sessions.length > 1 ? `${task.sessions.length} sessions` : agentName)}`
  }
}

/** Sooner than this it is said in the list; before, it would only be noise. */
const EXPIRY_SAID_MS = 3_600_000

/** "expires in 40 min": from what the page has, so that nobody is asked for it. */
function expiresSoon(task: TaskView, now: number): string | null {
  if (task.expires_at === null) return null
  const left = Date.parse(task.expires_at) - now
  return left > 0 && left <= EXPIRY_SAID_MS ? `expires in ${formatUntil(task.expires_at, now)}` : null
}

export const sessionPath = (session: { task_id: number; id: string }) => `/tasks/${session.task_id}/sessions/${session.id}`
export const taskPath = (task: TaskView) => {
  const session = leadingSession(task)
  return session ? sessionPath(session) : `/tasks/${task.id}`
}

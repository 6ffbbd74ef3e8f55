import type { TaskType } from "../../lib/contracts/task"

export type ExpiryFacts = {
  type: TaskType
  last_activity_at: string
  /** An open run, a wait, a queued prompt: whoever waits for something does not lose it to the clock. */
  busy: boolean
  executor_deleted: boolean
  expire_hours: Record<TaskType, number>
}
export type ExpiryReason = "expired" | "executor_deleted"

type Used = { active_at: string | null; updated_at: string }
/** What the server does by itself is no use of a session; a session older than that column was used when it was last written. */
export const lastUsed = (session: Used): string => session.active_at ?? session.updated_at

/** When a task was last used, itself or in any of its sessions. Pure. */
export const lastActivity = (task: { last_activity_at: string }, sessions: readonly Used[]): string =>
  sessions.reduce((latest, session) => (lastUsed(session) > latest ? lastUsed(session) : latest), task.last_activity_at)

/** When a task at rest expires; null while something keeps it. Pure. */
export function expiresAt(facts: Omit<ExpiryFacts, "executor_deleted">): string | null {
  if (facts.busy) return null
  return new Date(Date.parse(facts.last_activity_at) + facts.expire_hours[facts.type] * 3_600_000).toISOString()
}

/** Why a task has to be restored before it can be written to; null when it can be as it is. Pure. */
export function judgeExpiry(facts: ExpiryFacts, now: Date): ExpiryReason | null {
  if (facts.executor_deleted) return "executor_deleted"
  const at = expiresAt(facts)
  return at !== null && at <= now.toISOString() ? "expired" : null
}

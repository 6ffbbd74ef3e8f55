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

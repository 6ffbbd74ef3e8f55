import type { TaskType } from "../../lib/contracts/task"

/** When a task at rest expires; null while something keeps it: an open run, a wait, a queued prompt. Pure. */
export function expiresAt(facts: {
  type: TaskType
  last_activity_at: string
  busy: boolean
  expire_hours: Record<TaskType, number>
}): string | null {
  if (facts.busy) return null
  return new Date(Date.parse(facts.last_activity_at) + facts.expire_hours[facts.type] * 3_600_000).toISOString()
}

import { type ErrorDetails, isAppError } from "@/lib/contracts/errors"

/** What the server says of a task that was put away: enough to ask whether it should come back. */
export type TaskExpired = ErrorDetails["TASK_EXPIRED_RESTORABLE"]

/** By its code, whichever call it came from; null for everything else, a lost connection above all. */
export function taskExpired(error: unknown): TaskExpired | null {
  return isAppError(error) && error.code === "TASK_EXPIRED_RESTORABLE" ? (error.details as TaskExpired) : null
}

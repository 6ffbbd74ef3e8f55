import { isTerminalState, type SessionState } from "../../lib/contracts/status"
import type { Config } from "../platform/config"

/** Which agents a starting server brings back without being asked. Whatever still lives is adopted anyway. Pure. */
export function mayAutoResume(
  policy: Config["auto_resume"],
  session: { now: Date; last_used_at: string; state: string; was_up: boolean; resumable: boolean },
): boolean {
  if (!session.resumable || isTerminalState(session.state as SessionState)) return false
  switch (policy.mode) {
    case "off":
      return false
    case "all":
      return true
    case "active":
      // One that a person stopped, or that ended before, sleeps on until someone says something.
      return session.was_up && session.now.getTime() - Date.parse(session.last_used_at) < policy.window_hours * 3_600_000
  }
}

import type { SessionView } from "@/lib/contracts/task"
import { isPutAway } from "./task-restore"

/** Whether files and changes can be looked at; they need the executor, and nothing of the agent. */
export type WorkspaceState = { usable: true } | { usable: false; putAway: boolean; reason: string }

export function workspaceState(session: SessionView | undefined): WorkspaceState {
  if (!session) return { usable: false, putAway: false, reason: "Loading…" }
  if (isPutAway(session.executor_status)) {
    return { usable: false, putAway: true, reason: "The files were put away with this task. Continue the task to bring them back." }
  }
  switch (session.executor_status) {
    case "ready":
      return { usable: true }
    case "none":
    case "starting":
      return { usable: false, putAway: false, reason: "The executor is starting. This opens as soon as it is ready." }
    case "unknown":
      return { usable: false, putAway: false, reason: "The executor does not answer. Nothing is lost; this opens when it answers again." }
    case "error":
      return { usable: false, putAway: false, reason: "The executor failed. This opens when it is back." }
    default:
      return { usable: false, putAway: false, reason: "The executor is asleep. It wakes with the next message." }
  }
}

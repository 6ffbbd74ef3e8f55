import { type Change, update } from "../journal"

/** The task beside its session: working while a run is open, waiting for a look afterwards. */
export const taskAtWork = (taskId: number, at: string): Change =>
  update("tasks", { id: taskId }, { state: "IN_PROGRESS", updated_at: at, last_activity_at: at })
export const taskAtRest = (taskId: number, at: string): Change =>
  update("tasks", { id: taskId }, { state: "REVIEW", updated_at: at, last_activity_at: at })

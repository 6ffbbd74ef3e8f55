import { z } from "zod"

/** A tab of a session: a terminal agent, a shell, or the changes. The first two have a process in the executor, the last has none. */
export const WorkerType = z.enum(["agent", "terminal", "git-diff"])
export type WorkerType = z.infer<typeof WorkerType>

export const WorkerView = z.object({
  id: z.string(),
  session_id: z.string(),
  type: WorkerType,
  name: z.string(),
  position: z.number().int(),
  /** The terminal agent that runs in it; null for the other types. */
  agent: z.string().nullable(),
  created_at: z.string(),
})
export type WorkerView = z.infer<typeof WorkerView>

const Name = z.string().trim().min(1).max(80)
/** `fork_of`: another tab of this session, a copy of whose conversation this one begins with. */
export const CreateWorker = z.object({
  type: WorkerType,
  name: Name.optional(),
  agent: z.string().optional(),
  fork_of: z.string().optional(),
})
export type CreateWorker = z.infer<typeof CreateWorker>
export const PatchWorker = z.object({ name: Name.optional(), position: z.number().int().min(0).optional() })
export type PatchWorker = z.infer<typeof PatchWorker>
/** `continue`: an agent goes on with its conversation; otherwise it begins a new one. A shell is new either way. */
export const RestartWorker = z.object({ continue: z.boolean() })
export type RestartWorker = z.infer<typeof RestartWorker>

/** GET …/workers/{id}: what is in it now. `none`: no process was ever started, or its executor does not answer. */
export const WorkerDetail = WorkerView.extend({
  state: z.enum(["running", "exited", "gone", "none"]),
  title: z.string().nullable(),
  /** What runs in it, the shell itself left out. */
  processes: z.array(z.object({ command: z.string(), foreground: z.boolean() })),
})
export type WorkerDetail = z.infer<typeof WorkerDetail>

/** GET …/workers/{id}/history: raw output that ends at `before`; where it begins is in `x-rewake-pty-offset`. */
export const HistoryQuery = z.object({
  before: z.coerce.number().int().min(0),
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(1024 * 1024)
    .default(128 * 1024),
})

const Which = { session_id: z.string(), worker_id: z.string() }
const Size = { cols: z.number().int().min(2).max(1000), rows: z.number().int().min(1).max(500) }

/**
 * Without `offset` the output that is kept comes from its beginning; with it, from there. `snapshot` gives the screen as it is now
 * instead, ready to be drawn, and raw output after it. With a `window` at most that many bytes are on their way at a time, until
 * `worker.ack` says how far they were drawn; without one the connection's own pace is kept. With `skip` the program is not held back
 * to this viewer's pace: one that falls far behind is given the screen as it is by then (`worker.redraw`), and goes on from there.
 */
export const AttachWorker = z.object({
  ...Which,
  offset: z.number().int().min(0).optional(),
  snapshot: z.boolean().optional(),
  window: z.number().int().min(1024).optional(),
  skip: z.boolean().optional(),
  cols: Size.cols.optional(),
  rows: Size.rows.optional(),
})
export type AttachWorker = z.infer<typeof AttachWorker>
export type WorkerAttached = {
  /** The executor's life. Output of another one is other output, wherever its offsets begin: a task that was put away starts anew. */
  generation: number
  epoch: number
  /** Where the output that follows begins. */
  offset: number
  /** A process was started by this attach where an earlier one had been. */
  restored: boolean
  /** The terminal's size, which the snapshot was drawn for. */
  cols: number
  rows: number
  snapshot?: Uint8Array
}
export const WorkerInput = z.object({ ...Which, data: z.union([z.string(), z.instanceof(Uint8Array)]) })
export const ResizeWorker = z.object({ ...Which, ...Size })
export const DetachWorker = z.object(Which)
export const AckWorker = z.object({ ...Which, offset: z.number().int().min(0) })

export type WorkerOutput = { session_id: string; worker_id: string; epoch: number; offset: number; data: Uint8Array }
/** In place of what the viewer has not drawn yet: the screen, to be drawn from nothing, and where the output after it begins. */
export type WorkerRedraw = {
  session_id: string
  worker_id: string
  epoch: number
  offset: number
  cols: number
  rows: number
  snapshot: Uint8Array
}
/**
 * Why a viewer gets no more output. `exited`: the process ended, and attaching again starts another. `restarted`, `lost`: attach
 * again, there is or will be a new one. `closed`, `not_found`: there is nothing to come back to. `not_ready`, `put_away`: the
 * executor is not there now. `failed`: no process could be started.
 */
export type WorkerExitReason = "exited" | "restarted" | "lost" | "closed" | "not_found" | "not_ready" | "put_away" | "failed"
export type WorkerExit = {
  session_id: string
  worker_id: string
  exit_code: number | null
  signal: string | null
  reason: WorkerExitReason
}

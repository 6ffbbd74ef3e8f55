import { AppError, isAppError } from "../../lib/contracts/errors"
import type { AttachWorker, WorkerAttached, WorkerExit, WorkerExitReason, WorkerOutput, WorkerRedraw } from "../../lib/contracts/workers"
import type { Person } from "../auth"
import type { AttachedWorker, Workers } from "../workers"
import { createInputQueue } from "./worker-input"
import { createWorkerViewer, type WorkerViewer } from "./worker-viewer"

/** Each holds a stream from a daemon open. */
const MAX_VIEWERS = 50
/** A viewer that was silent for so long says its size again: another server's viewer may have taken the terminal meanwhile. */
const CLAIM_AGAIN_MS = 2_000

type Size = { cols: number; rows: number }
type Held = {
  request: AttachWorker
  abort: AbortController
  viewer: WorkerViewer | null
  /** Settles when the attach has: what is typed meanwhile waits for it. */
  ready: Promise<AttachedWorker>
  input: (data: string | Uint8Array) => Promise<void>
  size: Size | null
  claimed_at: number
}
export type WorkerSink = {
  output(output: WorkerOutput): void
  redraw(redraw: WorkerRedraw): void
  exit(exit: WorkerExit): void
  isFull(): boolean
  whenRoom(callback: () => void): void
}

/** Who looks at which terminal on this server, and who used it last: the terminal has the size of that viewer. */
export function createWorkerRooms() {
  const viewers = new Map<string, Set<Held>>()
  const active = new Map<string, Held>()
  return {
    active: (workerId: string) => active.get(workerId),
    activate: (held: Held) => void active.set(held.request.worker_id, held),
    isEmpty: (workerId: string) => !viewers.has(workerId),
    enter(held: Held) {
      const { worker_id } = held.request
      viewers.set(worker_id, (viewers.get(worker_id) ?? new Set()).add(held))
    },
    leave(held: Held) {
      const { worker_id } = held.request
      if (active.get(worker_id) === held) active.delete(worker_id)
      const room = viewers.get(worker_id)
      room?.delete(held)
      if (room?.size === 0) viewers.delete(worker_id)
    },
  }
}
export type WorkerRooms = ReturnType<typeof createWorkerRooms>

/** The terminals of one connection. They end with it: whoever is signed out loses them as they lose their subscriptions. */
export function createWorkerConnection(deps: { workers: Workers; rooms: WorkerRooms; person: Person; sink: WorkerSink }) {
  const held = new Map<string, Held>()

  function detach(workerId: string) {
    const one = held.get(workerId)
    if (!one) return
    held.delete(workerId)
    deps.rooms.leave(one)
    one.viewer?.close()
    one.abort.abort()
  }

  function requireHeld(which: { session_id: string; worker_id: string }): Held {
    const one = held.get(which.worker_id)
    if (one?.request.session_id === which.session_id) return one
    throw new AppError("NOT_FOUND", "Attach to this terminal first.", { entity: "worker" })
  }

  /** Using a terminal makes it as large as the user's own. */
  async function claim(one: Held) {
    const now = Date.now()
    const stale = deps.rooms.active(one.request.worker_id) !== one || now - one.claimed_at > CLAIM_AGAIN_MS
    deps.rooms.activate(one)
    one.claimed_at = now
    if (stale && one.size) await (await one.ready).resize(one.size)
  }

  return {
    async attach(request: AttachWorker): Promise<{ reply: WorkerAttached; start: () => void }> {
      const { session_id, worker_id } = request
      detach(worker_id)
      if (held.size >= MAX_VIEWERS) throw new AppError("RATE_LIMITED", "Too many terminals on one connection.", { retry_after_seconds: 0 })
      const abort = new AbortController()
      const ready = deps.workers.attach(deps.person, request, { signal: abort.signal, alone: deps.rooms.isEmpty(worker_id) })
      const one: Held = {
        request,
        abort,
        ready,
        viewer: null,
        input: createInputQueue(async (bytes) => (await ready).input(bytes)),
        size: request.cols && request.rows ? { cols: request.cols, rows: request.rows } : null,
        claimed_at: 0,
      }
      held.set(worker_id, one)
      deps.rooms.enter(one)
      try {
        const attached = await one.ready
        if (held.get(worker_id) !== one) {
          attached.output.destroy()
          throw new AppError("CONFLICT", "This terminal was attached again, or let go.", {})
        }
        const viewer = createWorkerViewer(attached, request.window, {
          output: (output) => deps.sink.output({ session_id, worker_id, ...output }),
          redraw: (redraw) => deps.sink.redraw({ session_id, worker_id, ...redraw }),
          exit: (exit) => {
            if (held.get(worker_id) === one) detach(worker_id)
            deps.sink.exit({ session_id, worker_id, ...exit })
          },
          isFull: deps.sink.isFull,
          whenRoom: deps.sink.whenRoom,
        })
        one.viewer = viewer
        const { generation, epoch, offset, restored, size, snapshot } = attached
        const reply = { generation, epoch, offset, restored, ...size, ...(snapshot ? { snapshot } : {}) }
        return { reply, start: () => void viewer.start() }
      } catch (error) {
        const replaced = held.get(worker_id) !== one
        if (!replaced) {
          detach(worker_id)
          deps.sink.exit({ session_id, worker_id, exit_code: 1, signal: null, reason: refusalReason(error) })
        }
        throw error
      }
    },
    async input(request: { session_id: string; worker_id: string; data: string | Uint8Array }) {
      const one = requireHeld(request)
      // In the order of arrival, whatever the claim takes: the queue is entered before anything is awaited.
      const written = one.input(request.data)
      await Promise.all([written, claim(one)])
    },
    async resize({ cols, rows, ...which }: { session_id: string; worker_id: string } & Size) {
      const one = requireHeld(which)
      one.size = { cols, rows }
      one.claimed_at = 0
      await claim(one)
    },
    acknowledge(request: { session_id: string; worker_id: string; offset: number }) {
      const one = held.get(request.worker_id)
      if (one?.request.session_id === request.session_id) one.viewer?.acknowledge(request.offset)
    },
    detach: (which: { session_id: string; worker_id: string }) => {
      if (held.get(which.worker_id)?.request.session_id === which.session_id) detach(which.worker_id)
    },
    close() {
      for (const workerId of [...held.keys()]) detach(workerId)
    },
  }
}

export type WorkerConnection = ReturnType<typeof createWorkerConnection>

const PUT_AWAY = ["reaping", "deleted"]

function refusalReason(error: unknown): WorkerExitReason {
  if (!isAppError(error)) return "failed"
  if (error.code === "NOT_FOUND") return "not_found"
  if (error.code === "EXECUTOR_UNREACHABLE") return "not_ready"
  if (error.code !== "NOT_READY") return "failed"
  return PUT_AWAY.includes((error.details as { executor_status?: string }).executor_status ?? "") ? "put_away" : "not_ready"
}

import { isAppError, isPassing } from "@/lib/contracts/errors"
import type { WorkerAttached, WorkerExit, WorkerOutput, WorkerRedraw } from "@/lib/contracts/workers"
import { attachWorker, sendDrawn, sendInput, sendSize, watchWorker } from "./socket"

/** On their way at most, undrawn: enough for a screen of anything, little enough for Ctrl-C to be seen at once. */
const WINDOW_BYTES = 384 * 1024
/** How much is typed in one message; a large paste goes in pieces, each after the one before. */
const PIECE_BYTES = 32 * 1024
const FIRST_RETRY_MS = 250
const LAST_RETRY_MS = 5_000

type Size = { cols: number; rows: number }

/**
 * `waiting`: the executor is not there now; it is asked again by itself. `ended`: the process did; a person starts another.
 * `gone`: the tab was closed. `failed`: no process could be started.
 */
export type StreamState =
  | { phase: "connecting" }
  | { phase: "live"; epoch: number }
  | { phase: "waiting"; why: string; putAway: boolean }
  | { phase: "ended"; exitCode: number | null; signal: string | null }
  | { phase: "gone" }
  | { phase: "failed"; why: string }

export type StreamSink = {
  size(): Size | null
  /** Draws from nothing: what was shown before is not part of it. */
  redraw(screen: Pick<WorkerAttached, "cols" | "rows" | "snapshot">): void
  draw(data: Uint8Array, drawn: () => void): void
  changed(state: StreamState): void
}

/** One terminal's output, from wherever this page has it to its end, through lost connections and new processes. */
export class WorkerStream {
  state: StreamState = { phase: "connecting" }
  /** Where the next output begins; null before anything was drawn. */
  private offset: number | null = null
  private generation: number | null = null
  private acked = 0
  private attempt = 0
  private retries = 0
  private retry: ReturnType<typeof setTimeout> | undefined
  private pasting: Promise<void> | null = null
  private readonly which: { session_id: string; worker_id: string }
  private readonly unwatch: () => void

  constructor(
    sessionId: string,
    workerId: string,
    private readonly sink: StreamSink,
  ) {
    this.which = { session_id: sessionId, worker_id: workerId }
    this.unwatch = watchWorker(this.which, {
      onConnected: () => this.attach(),
      onDisconnected: () => {
        this.attempt += 1
        if (this.state.phase !== "ended" && this.state.phase !== "gone") this.set({ phase: "connecting" })
      },
      onOutput: (output) => this.take(output),
      onRedraw: (redraw) => this.skip(redraw),
      onExit: (exit) => this.leave(exit),
    })
  }

  /** Attaches again: after the process ended this starts another one. */
  readonly attach = (): void => {
    clearTimeout(this.retry)
    if (this.state.phase === "gone") return
    const attempt = ++this.attempt
    this.set({ phase: "connecting" })
    const from = this.offset === null ? { snapshot: true } : { offset: this.offset }
    attachWorker({ ...this.which, ...from, ...(this.sink.size() ?? {}), window: WINDOW_BYTES, skip: true }, (outcome) => {
      if (attempt !== this.attempt) return
      if ("error" in outcome) return this.refused(outcome.error)
      this.begin(outcome.attached)
    })
  }

  private begin(attached: WorkerAttached): void {
    if (this.offset !== null && (attached.offset !== this.offset || attached.generation !== this.generation)) {
      // What lies between is not kept any more, or this is other output: the screen as it is now, instead.
      this.offset = null
      return this.attach()
    }
    if (this.offset === null) this.sink.redraw(attached)
    this.generation = attached.generation
    this.offset = attached.offset
    this.acked = attached.offset
    this.retries = 0
    this.set({ phase: "live", epoch: attached.epoch })
  }

  private refused(error: unknown): void {
    const code = isAppError(error) ? error.code : null
    const why = error instanceof Error ? error.message : "The terminal could not be opened."
    if (code === "NOT_FOUND") return this.set({ phase: "gone" })
    // No code: the server did not answer, which is not a refusal.
    if (!isAppError(error) || isPassing(error) || code === "CONFLICT") {
      const status = isAppError(error) ? (error.details as { executor_status?: string }).executor_status : undefined
      this.set({ phase: "waiting", why, putAway: status === "deleted" || status === "reaping" })
      return this.attachLater()
    }
    this.set({ phase: "failed", why })
  }

  private attachLater(): void {
    clearTimeout(this.retry)
    const wait = Math.min(FIRST_RETRY_MS * 2 ** this.retries, LAST_RETRY_MS)
    this.retries += 1
    this.retry = setTimeout(() => this.attach(), wait)
  }

  private take({ offset, data }: WorkerOutput): void {
    if (this.state.phase !== "live" || this.offset === null) return
    // Left over from an attachment before this one.
    if (offset < this.offset) return
    if (offset > this.offset) return this.attach()
    const bytes = new Uint8Array(data)
    this.offset += bytes.length
    const end = this.offset
    this.sink.draw(bytes, () => this.drawn(end))
  }

  /** Too much ran by to be drawn: on from the screen as it is. What lies between is among the earlier output. */
  private skip(redraw: WorkerRedraw): void {
    if (this.state.phase !== "live") return
    this.offset = redraw.offset
    this.acked = redraw.offset
    this.sink.redraw(redraw)
  }

  /** The server goes on when a good part of the window is free again, not with every piece. */
  private drawn(end: number): void {
    if (end - this.acked < WINDOW_BYTES / 4 || this.state.phase !== "live") return
    this.acked = end
    sendDrawn({ ...this.which, offset: end })
  }

  private leave({ reason, exit_code, signal }: WorkerExit): void {
    // A refused attach is told by its answer.
    if (this.state.phase !== "live") return
    if (reason === "exited") return this.set({ phase: "ended", exitCode: exit_code, signal })
    if (reason === "closed" || reason === "not_found") return this.set({ phase: "gone" })
    this.set({ phase: "connecting" })
    this.attachLater()
  }

  /** In order, however much it is; what is typed while there is no process is not kept for the next. */
  type(data: string | Uint8Array): void {
    if (this.state.phase !== "live") return
    const bytes = typeof data === "string" ? new TextEncoder().encode(data) : data
    if (bytes.length <= PIECE_BYTES && !this.pasting) return this.send(bytes)
    const before = this.pasting ?? Promise.resolve()
    const mine = before.then(() => this.paste(bytes, this.attempt)).catch(() => {})
    this.pasting = mine
    void mine.then(() => {
      if (this.pasting === mine) this.pasting = null
    })
  }
  private send(bytes: Uint8Array): void {
    sendInput({ ...this.which, data: bytes }).catch(() => {})
  }
  /** Piece by piece, each when the one before was taken. */
  private async paste(bytes: Uint8Array, attempt: number): Promise<void> {
    for (let at = 0; at < bytes.length && attempt === this.attempt; at += PIECE_BYTES) {
      await sendInput({ ...this.which, data: bytes.slice(at, at + PIECE_BYTES) })
    }
  }

  resize(size: Size): void {
    if (this.state.phase === "live") sendSize({ ...this.which, ...size })
  }

  /** Everything up to here was received; earlier output ends at it. */
  get position(): number | null {
    return this.offset
  }

  private set(state: StreamState): void {
    this.state = state
    this.sink.changed(state)
  }

  dispose(): void {
    this.attempt += 1
    clearTimeout(this.retry)
    this.unwatch()
  }
}

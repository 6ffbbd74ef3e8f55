import type { WorkerExit, WorkerOutput, WorkerRedraw } from "../../lib/contracts/workers"
import type { Ahead, AttachedWorker } from "../workers"

/** One push. Larger ones would keep a key's echo waiting behind them on a slow line. */
const CHUNK_BYTES = 64 * 1024
/** A viewer that may skip does so when it has more than this to draw: by then nobody reads what runs by. */
const SKIP_BYTES = 1024 * 1024
/** How often it is looked at; a drawing of the screen has its price, too. */
const LOOK_EVERY_MS = 300

export type ViewerSink = {
  output(output: Pick<WorkerOutput, "epoch" | "offset" | "data">): void
  redraw(redraw: Pick<WorkerRedraw, "epoch" | "offset" | "cols" | "rows" | "snapshot">): void
  exit(exit: Pick<WorkerExit, "exit_code" | "signal" | "reason">): void
  isFull(): boolean
  whenRoom(callback: () => void): void
}

/**
 * One viewer of one terminal: its output in order, by contiguous offsets, as fast as the viewer takes it. While the window is full
 * or the connection has not drained nothing is read from the daemon, and so nothing is kept here. One that may skip goes on from the
 * screen as it is when it has fallen too far behind.
 */
export function createWorkerViewer(attached: AttachedWorker, window: number | undefined, sink: ViewerSink) {
  let { epoch, output } = attached
  let sent = attached.offset
  let acked = attached.offset
  let lookedAt = 0
  let closed = false
  let go = () => {}

  const hasWindow = () => window === undefined || sent - acked < window
  async function room() {
    while (!closed && (!hasWindow() || sink.isFull())) {
      await new Promise<void>((resolve) => {
        go = resolve
        if (hasWindow()) sink.whenRoom(resolve)
      })
    }
  }

  /** Only one that has to wait for its own drawing can be behind. */
  async function isFarBehind(): Promise<boolean> {
    if (Date.now() - lookedAt < LOOK_EVERY_MS) return false
    lookedAt = Date.now()
    const head = await attached.head().catch(() => null)
    return head !== null && head - acked > SKIP_BYTES
  }

  /** False: the rest is not worth drawing any more. */
  async function send(chunk: Buffer): Promise<boolean> {
    for (let rest = chunk; rest.length > 0 && !closed; ) {
      const waits = !hasWindow()
      await room()
      if (closed) return true
      if (waits && (await isFarBehind())) return false
      if (closed) return true
      const allowed = window === undefined ? CHUNK_BYTES : Math.min(CHUNK_BYTES, acked + window - sent)
      const data = rest.subarray(0, allowed)
      sink.output({ epoch, offset: sent, data })
      sent += data.length
      rest = rest.subarray(data.length)
    }
    return true
  }

  /** Until the output ends, or is cut off, or the viewer has fallen too far behind. */
  async function pass(): Promise<"over" | "behind"> {
    try {
      for await (const chunk of output as AsyncIterable<Buffer>) if (!(await send(chunk))) return "behind"
    } catch {
      // Cut off: what became of the process is asked below, and the viewer attaches again from where it is.
    }
    return "over"
  }

  function skipTo(ahead: Ahead): void {
    output.destroy()
    ;({ epoch, output } = ahead)
    sent = ahead.offset
    acked = ahead.offset
    sink.redraw({ epoch, offset: ahead.offset, ...ahead.size, snapshot: ahead.snapshot })
  }

  async function pump() {
    while ((await pass()) === "behind" && !closed) {
      const ahead = await attached.ahead().catch(() => null)
      // Another process by now: what became of this one is told first.
      const follows = !closed && ahead?.epoch === epoch
      if (!follows) ahead?.output.destroy()
      if (!ahead || !follows) break
      skipTo(ahead)
    }
    if (!closed) {
      // Where it cannot be told, as with the database away, the viewer attaches again: told nothing, it would show a dead stream as live.
      const ending = await attached.ending().catch(() => ({ exit_code: null, signal: null, reason: "lost" as const }))
      if (!closed) sink.exit(ending)
    }
  }

  return {
    /** Starts pushing; call it after the acknowledgement has been sent. */
    start: pump,
    acknowledge(offset: number) {
      if (offset <= acked || offset > sent) return
      acked = offset
      go()
    },
    close() {
      closed = true
      output.destroy()
      go()
    },
  }
}
export type WorkerViewer = ReturnType<typeof createWorkerViewer>

import type { WorkerExit, WorkerOutput } from "../../lib/contracts/workers"
import type { AttachedWorker } from "../workers"

/** One push. Larger ones would keep a key's echo waiting behind them on a slow line. */
const CHUNK_BYTES = 64 * 1024

export type ViewerSink = {
  output(output: Pick<WorkerOutput, "epoch" | "offset" | "data">): void
  exit(exit: Pick<WorkerExit, "exit_code" | "signal" | "reason">): void
  isFull(): boolean
  whenRoom(callback: () => void): void
}

/**
 * One viewer of one terminal: its output in order, by contiguous offsets, as fast as the viewer takes it. While the window is full
 * or the connection has not drained nothing is read from the daemon, and so nothing is kept here.
 */
export function createWorkerViewer(attached: AttachedWorker, window: number | undefined, sink: ViewerSink) {
  let sent = attached.offset
  let acked = attached.offset
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

  async function send(chunk: Buffer) {
    for (let rest = chunk; rest.length > 0 && !closed; ) {
      await room()
      if (closed) return
      const allowed = window === undefined ? CHUNK_BYTES : Math.min(CHUNK_BYTES, acked + window - sent)
      const data = rest.subarray(0, allowed)
      sink.output({ epoch: attached.epoch, offset: sent, data })
      sent += data.length
      rest = rest.subarray(data.length)
    }
  }

  async function pump() {
    try {
      for await (const chunk of attached.output as AsyncIterable<Buffer>) await send(chunk)
    } catch {
      // Cut off: what became of the process is asked below, and the viewer attaches again from where it is.
    }
    if (!closed) {
      const ending = await attached.ending()
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
      attached.output.destroy()
      go()
    },
  }
}
export type WorkerViewer = ReturnType<typeof createWorkerViewer>

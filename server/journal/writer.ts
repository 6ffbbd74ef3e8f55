import type { WriteRequest, WriteResult } from "./apply-batch"

/** Carries out whole batches, durably: when it answers, what it answered `ok` is on disk. */
export type Writer = {
  write(batch: WriteRequest[]): Promise<WriteResult[]>
  /** Batches it may hold at once; they are carried out in order. Two keep a writer in another thread from waiting for us. */
  depth: number
  close(): Promise<void>
}

/** A larger batch would leave nothing to prepare while it is written, and lets the last of it wait longer than need be. */
const BATCH_LIMIT = 64

/**
 * Group commit: one transaction, one fsync, for everything that arrived while earlier ones were being written. A single
 * append is not made to wait for company: with room at the writer it goes at once.
 */
export function createGroupCommit(writer: Writer) {
  type Waiting = { request: WriteRequest; settle: (result: WriteResult) => void; fail: (error: unknown) => void }
  const waiting: Waiting[] = []
  const inFlight = new Set<Promise<void>>()
  let scheduled = false

  async function send(batch: Waiting[]) {
    try {
      const results = await writer.write(batch.map((item) => item.request))
      for (const [i, item] of batch.entries()) item.settle(results[i] as WriteResult)
    } catch (error) {
      for (const item of batch) item.fail(error)
    }
  }
  function pump() {
    scheduled = false
    while (inFlight.size < writer.depth && waiting.length > 0) {
      const sent: Promise<void> = send(waiting.splice(0, BATCH_LIMIT)).then(() => {
        inFlight.delete(sent)
        schedule()
      })
      inFlight.add(sent)
    }
  }
  /** After whoever was acknowledged together has spoken: they would otherwise go one by one. */
  function schedule() {
    if (scheduled) return
    scheduled = true
    queueMicrotask(pump)
  }

  return {
    submit: (request: WriteRequest) =>
      new Promise<WriteResult>((settle, fail) => {
        waiting.push({ request, settle, fail })
        schedule()
      }),
    async close() {
      while (inFlight.size > 0 || waiting.length > 0) await Promise.all([...inFlight, Promise.resolve()])
      await writer.close()
    },
  }
}

import type { WriteRequest, WriteResult } from "./apply-batch"

/** Carries out whole batches, durably: when it answers, what it answered `ok` is on disk. */
export type Writer = {
  write(batch: WriteRequest[]): Promise<WriteResult[]>
  close(): Promise<void>
}

/**
 * Group commit: one transaction, one fsync, for everything that arrived while the last one was being written. A single
 * append is not made to wait for company: with nothing in flight it goes at once.
 */
export function createGroupCommit(writer: Writer, limit = 512) {
  type Waiting = { request: WriteRequest; settle: (result: WriteResult) => void; fail: (error: unknown) => void }
  const waiting: Waiting[] = []
  let inFlight: Promise<void> | null = null

  async function drain() {
    while (waiting.length > 0) {
      const batch = waiting.splice(0, limit)
      try {
        const results = await writer.write(batch.map((item) => item.request))
        for (const [i, item] of batch.entries()) item.settle(results[i] as WriteResult)
      } catch (error) {
        for (const item of batch) item.fail(error)
      }
    }
    inFlight = null
  }

  return {
    submit: (request: WriteRequest) =>
      new Promise<WriteResult>((settle, fail) => {
        waiting.push({ request, settle, fail })
        inFlight ??= drain()
      }),
    async close() {
      while (inFlight) await inFlight
      await writer.close()
    },
  }
}

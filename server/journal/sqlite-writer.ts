import { once } from "node:events"
import { Worker } from "node:worker_threads"
import type { WriteResult } from "./apply-batch"
import type { Writer } from "./writer"

export function openSqliteWriter(options: { file: string; script: URL | string }): Writer {
  const worker = new Worker(options.script, { workerData: { file: options.file } })
  let pending: { settle: (results: WriteResult[]) => void; fail: (error: Error) => void } | null = null
  let dead: Error | null = null

  const end = (error: Error) => {
    dead = error
    pending?.fail(error)
    pending = null
  }
  worker.on("message", (message: { results: WriteResult[] } | { error: string }) => {
    const waiting = pending
    pending = null
    if ("results" in message) waiting?.settle(message.results)
    else waiting?.fail(new Error(message.error))
  })
  worker.on("error", end)
  worker.on("exit", () => end(dead ?? new Error("the journal's writer has ended")))

  return {
    write: (batch) =>
      new Promise((settle, fail) => {
        if (dead) return fail(dead)
        pending = { settle, fail }
        worker.postMessage({ batch })
      }),
    async close() {
      if (dead) return
      const exited = once(worker, "exit")
      worker.postMessage("close")
      await exited
    },
  }
}

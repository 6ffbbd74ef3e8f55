import { once } from "node:events"
import { Worker } from "node:worker_threads"
import type { WriteResult } from "./apply-batch"
import type { Writer } from "./writer"

/** JSON both ways: cloning the same objects costs a multiple of writing and reading them as text. */
type Reply = { results: WriteResult[] } | { error: string; code: string | null }

export function openSqliteWriter(options: { file: string; script: URL | string }): Writer {
  const worker = new Worker(options.script, {
    workerData: { file: options.file },
    // It keeps nothing: what it allocates is garbage with the next batch.
    resourceLimits: { maxYoungGenerationSizeMb: 4 },
  })
  const pending: { settle: (results: WriteResult[]) => void; fail: (error: Error) => void }[] = []
  let dead: Error | null = null

  const end = (error: Error) => {
    dead ??= error
    for (const { fail } of pending.splice(0)) fail(dead)
  }
  worker.on("message", (message: string) => {
    const reply = JSON.parse(message) as Reply
    const oldest = pending.shift()
    if ("results" in reply) oldest?.settle(reply.results)
    else oldest?.fail(Object.assign(new Error(reply.error), { code: reply.code }))
  })
  worker.on("error", end)
  worker.on("exit", () => end(new Error("the journal's writer has ended")))

  return {
    depth: 2,
    write: (batch) =>
      new Promise((settle, fail) => {
        if (dead) return fail(dead)
        pending.push({ settle, fail })
        worker.postMessage(JSON.stringify(batch))
      }),
    async close() {
      if (dead) return
      const exited = once(worker, "exit")
      worker.postMessage("close")
      await exited
    },
  }
}

import { PassThrough } from "node:stream"
import { describe, expect, test } from "vitest"
import type { Ingest } from "../../../server/execution/ingest"
import { startSpoolReader } from "../../../server/execution/spool-reader"
import type { AgentctlClient } from "../../../server/executors"
import { createLogger } from "../../../server/platform/logger"

/** A reader whose stream has ended, by a journal that could not take what it read. */
async function endedReader(cursor: number) {
  const stream = Object.assign(new PassThrough(), { setTimeout: () => {} })
  const failure = new Error("the database is away")
  let ended = () => {}
  const end = new Promise<void>((resolve) => (ended = resolve))
  const reader = startSpoolReader({
    client: { openEvents: async () => stream, ack: async () => {} } as unknown as AgentctlClient,
    owned: { ref: { id: "sess_1", task_id: 1, user_id: "usr_1" }, boot_id: "boot_1", epoch: 1 },
    ingest: {
      cursor: () => ({ spool_id: "spool_1", n: cursor }),
      take: () => Promise.reject(failure),
    } as unknown as Ingest,
    logger: createLogger("silent"),
    onEnd: () => ended(),
  })
  const before = reader.caughtUpTo(cursor + 1)
  stream.write(`{"spool_id":"spool_1"}\n{"n":${cursor + 1},"ts":"2026-01-01T00:00:00.000Z","kind":"agent.exited"}\n`)
  await expect(before).rejects.toBe(failure)
  await end
  return { reader, failure }
}

describe("a spool's reader that has ended", () => {
  test("refuses to wait for what it will never read, with the reason of its end", async () => {
    const { reader, failure } = await endedReader(4)
    await expect(reader.caughtUpTo(5)).rejects.toBe(failure)
  })

  test("says of what it has read that it is there", async () => {
    const { reader } = await endedReader(4)
    await expect(reader.caughtUpTo(4)).resolves.toBeUndefined()
  })
})

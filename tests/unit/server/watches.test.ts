import type { IncomingMessage } from "node:http"
import { PassThrough } from "node:stream"
import { expect, test, vi } from "vitest"
import type { Logger } from "../../../server/platform/logger"
import { createWatches } from "../../../server/workspace/watches"

test("a page that began to watch is told once the watch is there: it may have read the workspace before", async () => {
  const stream = new PassThrough()
  let finishOpening = () => {}
  const opened = new Promise<IncomingMessage>((resolve) => {
    finishOpening = () => resolve(stream as unknown as IncomingMessage)
  })
  const watches = createWatches({ open: () => opened, logger: { debug: () => {} } as unknown as Logger })
  const told = vi.fn()
  watches.add("sess_1", told)
  await new Promise(setImmediate)
  expect(told).not.toHaveBeenCalled()

  finishOpening()
  await vi.waitFor(() => expect(told).toHaveBeenCalledTimes(1))
  stream.write('{"changed":true}\n')
  await vi.waitFor(() => expect(told).toHaveBeenCalledTimes(2))
  watches.close()
  stream.end()
})

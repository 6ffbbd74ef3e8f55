import type { ServerResponse } from "node:http"
import { DURATIONS } from "../../lib/host/durations"
import { Failure } from "./failure"
import type { Spool } from "./spool"

/**
 * Everything after `after`, then everything that comes, as it is on disk: a slow reader costs no memory, since its
 * records are read again from the file when it is ready for them. Ends only with the connection or the session.
 */
export async function streamEvents(spool: Spool, after: number, spoolId: string | null, response: ServerResponse): Promise<void> {
  if (spoolId !== null && spoolId !== spool.id) {
    throw new Failure("SPOOL_MISMATCH", "This session has another spool now.", { spool_id: spool.id })
  }
  if (after < spool.first - 1) {
    throw new Failure("SPOOL_CUT", `Records up to ${spool.first - 1} are gone.`, {
      spool_id: spool.id,
      first: spool.first,
      head: spool.head,
    })
  }
  if (after > spool.head) {
    if (spoolId === null) throw new Failure("INVALID_INPUT", `Record ${after} does not exist; the newest is ${spool.head}.`)
    spool.continueAfter(after)
    await spool.durable()
  }
  const closed = new AbortController()
  response.on("close", () => closed.abort())
  const write = async (bytes: Buffer | string) => {
    if (!response.write(bytes)) await drained(response, closed.signal)
  }
  let offset = await spool.locate(after)
  response.writeHead(200, { "content-type": "application/x-ndjson", "cache-control": "no-store" })
  await write(`${JSON.stringify({ spool_id: spool.id, head: spool.head, first: spool.first })}\n`)
  while (!closed.signal.aborted) {
    if (spool.isAtEnd(offset)) {
      // Only whole lines are on disk, so that a heartbeat at the end of the file stands between records.
      if (!(await changedWithin(spool, closed.signal))) await write("\n")
      continue
    }
    const bytes = await spool.read(offset)
    if (bytes === null) break
    if (bytes.length === 0) {
      const lost = spool.lostFrom(offset)
      offset = lost.offset
      await write(lost.bytes)
      continue
    }
    offset += bytes.length
    await write(bytes)
  }
  response.end()
}

async function changedWithin(spool: Spool, closed: AbortSignal): Promise<boolean> {
  const patience = new AbortController()
  const giveUp = () => patience.abort()
  const timer = setTimeout(giveUp, DURATIONS.heartbeatMs)
  closed.addEventListener("abort", giveUp)
  await spool.changed(patience.signal)
  clearTimeout(timer)
  closed.removeEventListener("abort", giveUp)
  return !patience.signal.aborted
}

export function drained(response: ServerResponse, closed: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off("drain", done)
      closed.removeEventListener("abort", done)
      resolve()
    }
    if (closed.aborted) return resolve()
    response.on("drain", done)
    closed.addEventListener("abort", done)
  })
}

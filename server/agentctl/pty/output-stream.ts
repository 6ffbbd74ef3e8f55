import type { ServerResponse } from "node:http"
import { PTY_EPOCH_HEADER, PTY_OFFSET_HEADER, PTY_SNAPSHOT_HEADER, PTY_SNAPSHOT_SIZE_HEADER } from "../../../lib/contracts/agentctl/ptys"
import { drained } from "../stream-events"
import type { Pty } from "./pty"

/** Raw output as it comes, at the reader's pace. Ends with the epoch; also when the reader fell behind what is kept: it attaches again. */
export async function streamOutput(
  pty: Pty,
  { from, skips }: { from: number | "snapshot"; skips: boolean },
  response: ServerResponse,
): Promise<void> {
  const { epoch, viewer, snapshot } = await pty.attach(from, skips)
  const closed = new AbortController()
  response.on("close", () => {
    closed.abort()
    viewer.wake()
  })
  response.writeHead(200, {
    "content-type": "application/octet-stream",
    "cache-control": "no-store",
    [PTY_EPOCH_HEADER]: epoch,
    [PTY_OFFSET_HEADER]: viewer.offset,
    ...(snapshot
      ? { [PTY_SNAPSHOT_HEADER]: snapshot.bytes.length, [PTY_SNAPSHOT_SIZE_HEADER]: `${snapshot.size.cols}x${snapshot.size.rows}` }
      : {}),
  })
  response.flushHeaders()
  const write = async (bytes: Buffer) => {
    if (!response.write(bytes)) await drained(response, closed.signal)
  }
  try {
    if (snapshot) await write(snapshot.bytes)
    for (let bytes = await viewer.next(closed.signal); bytes !== null; bytes = await viewer.next(closed.signal)) {
      await write(bytes)
      viewer.took(bytes.length)
    }
  } finally {
    await viewer.leave()
  }
  response.end()
}

/** Older output, to be put above what is shown. */
export async function sendHistory(pty: Pty, before: number, limit: number, response: ServerResponse): Promise<void> {
  const { offset, bytes } = await pty.history(before, limit)
  response.writeHead(200, {
    "content-type": "application/octet-stream",
    "content-length": bytes.length,
    [PTY_OFFSET_HEADER]: offset,
  })
  response.end(bytes)
}

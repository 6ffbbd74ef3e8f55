import { PTY_INPUT_MAX_BYTES } from "../../lib/contracts/agentctl/ptys"
import { AppError } from "../../lib/contracts/errors"

/** A paste of more than this that the program does not read is refused rather than kept. */
const MAX_PENDING_BYTES = 1024 * 1024

/** What a viewer types, in its order: one call to the daemon at a time, taking along whatever was typed meanwhile. */
export function createInputQueue(write: (bytes: Uint8Array) => Promise<void>) {
  let pending: { bytes: Buffer; settle: (error?: unknown) => void }[] = []
  let size = 0
  let writing = false

  async function flush() {
    if (writing) return
    writing = true
    while (pending.length > 0) {
      const batch = nextBatch(pending)
      pending = pending.slice(batch.length)
      const error = await writePieces(Buffer.concat(batch.map((entry) => entry.bytes))).catch((refusal: unknown) => refusal)
      for (const { bytes, settle } of batch) {
        size -= bytes.length
        settle(error)
      }
    }
    writing = false
  }
  async function writePieces(bytes: Buffer) {
    for (let at = 0; at < bytes.length; at += PTY_INPUT_MAX_BYTES) await write(bytes.subarray(at, at + PTY_INPUT_MAX_BYTES))
  }

  return (data: string | Uint8Array): Promise<void> => {
    const bytes = typeof data === "string" ? Buffer.from(data, "utf8") : Buffer.from(data)
    if (bytes.length === 0) return Promise.resolve()
    if (size + bytes.length > MAX_PENDING_BYTES)
      return Promise.reject(
        new AppError("PAYLOAD_TOO_LARGE", "The terminal has not taken what was typed before.", { limit_bytes: MAX_PENDING_BYTES }),
      )
    size += bytes.length
    return new Promise((resolve, reject) => {
      pending.push({ bytes, settle: (error) => (error === undefined ? resolve() : reject(error)) })
      void flush()
    })
  }
}

/** As many as go into one call; the first always does. */
function nextBatch<E extends { bytes: Buffer }>(entries: readonly E[]): E[] {
  let total = 0
  const end = entries.findIndex(({ bytes }, at) => {
    total += bytes.length
    return at > 0 && total > PTY_INPUT_MAX_BYTES
  })
  return entries.slice(0, end === -1 ? entries.length : end)
}

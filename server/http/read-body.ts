import { AppError } from "../../lib/contracts/errors"

/** A body of this kind is small: one that takes longer is held open on purpose, or its sender is gone. */
const BODY_DEADLINE_MS = 30_000

export const bytesOf = (request: Request) => (request.body ?? []) as unknown as AsyncIterable<Uint8Array>

/** A whole body, up to `bytes` and within the deadline; `told` is the limit as people know it. */
export async function readBody(request: Request, { bytes: limit, told = limit }: { bytes: number; told?: number }): Promise<Buffer> {
  const tooLarge = () => new AppError("PAYLOAD_TOO_LARGE", "The request is too large.", { limit_bytes: told })
  if (Number(request.headers.get("content-length") ?? 0) > limit) throw tooLarge()
  const chunks: Uint8Array[] = []
  let size = 0
  const source = bytesOf(request)[Symbol.asyncIterator]()
  let late: NodeJS.Timeout | undefined
  const deadline = new Promise<never>((_, reject) => {
    late = setTimeout(() => reject(new AppError("REQUEST_TIMEOUT", "The request did not arrive in time.", {})), BODY_DEADLINE_MS)
  })
  try {
    for (;;) {
      const { done, value } = await Promise.race([source.next(), deadline])
      if (done) return Buffer.concat(chunks)
      size += value.byteLength
      if (size > limit) throw tooLarge()
      chunks.push(value)
    }
  } finally {
    clearTimeout(late)
  }
}

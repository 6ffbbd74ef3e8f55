import type { ServerResponse } from "node:http"
import { pipeline } from "node:stream/promises"
import { etagOf, openFile } from "./inside"

export type Span = { start: number; end: number }

/** Streams the file as it is on disk. One that shrinks meanwhile breaks the answer off: a short file must not look whole. */
export async function sendFile(root: string, path: string, range: string | undefined, response: ServerResponse): Promise<void> {
  const { file, info } = await openFile(root, path)
  try {
    const size = Number(info.size)
    const headers = {
      "content-type": "application/octet-stream",
      "accept-ranges": "bytes",
      "cache-control": "no-store",
      etag: etagOf(info),
      "last-modified": new Date(Number(info.mtimeMs)).toUTCString(),
    }
    const span = parseRange(range, size)
    if (span === "unsatisfiable") {
      response.writeHead(416, { "content-range": `bytes */${size}`, "content-length": 0 })
      response.end()
      return
    }
    const length = span ? span.end - span.start + 1 : size
    response.writeHead(span ? 206 : 200, {
      ...headers,
      "content-length": length,
      ...(span ? { "content-range": `bytes ${span.start}-${span.end}/${size}` } : {}),
    })
    if (length === 0) {
      response.end()
      return
    }
    const { start, end } = span ?? { start: 0, end: size - 1 }
    const content = file.createReadStream({ start, end, autoClose: false })
    try {
      await pipeline(content, response, { end: false })
      if (content.bytesRead === length) response.end()
      else response.destroy()
    } catch {
      response.destroy()
    }
  } finally {
    await file.close()
  }
}

/** One span of bytes. What is no such header is answered whole, as HTTP wants it. */
export function parseRange(header: string | undefined, size: number): Span | "unsatisfiable" | null {
  const [, from = "", to = ""] = /^bytes=(\d*)-(\d*)$/.exec(header ?? "") ?? []
  if (from === "" && to === "") return null
  const start = from === "" ? Math.max(0, size - Number(to)) : Number(from)
  const end = from === "" || to === "" ? size - 1 : Math.min(Number(to), size - 1)
  if (from !== "" && to !== "" && Number(to) < start) return null
  return start > end ? "unsatisfiable" : { start, end }
}

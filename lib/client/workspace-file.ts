import { AppError, fromErrorBody } from "@/lib/contracts/errors"
import { type FileWritten, MAX_UPLOAD_BYTES } from "@/lib/contracts/workspace"
import { call } from "./api"
import { formatBytes } from "./format"
import { filePath } from "./queries/workspace"
import { NetworkError } from "./transport"

/** So much of a file is read into the page; the rest is a download away. */
export const SHOWN_BYTES = 1024 * 1024

export type FileHead = { text: string | null; bytes: number; etag: string; truncated: boolean }

const PICTURE = /\.(png|jpe?g|gif|webp|avif|bmp|ico)$/i
export const isPicture = (path: string) => PICTURE.test(path)

/** The beginning of a file; `text` is null when it is no text. */
export async function readFileHead(sessionId: string, path: string): Promise<FileHead> {
  const headers = { range: `bytes=0-${SHOWN_BYTES - 1}` }
  const response = await fetch(filePath(sessionId, path), { headers, credentials: "same-origin", cache: "no-store" }).catch((cause) => {
    throw new NetworkError("The server could not be reached.", { cause })
  })
  // An empty file has no first byte.
  if (response.status === 416) return { text: "", bytes: 0, etag: response.headers.get("etag") ?? "", truncated: false }
  if (!response.ok)
    throw fromErrorBody(await response.json().catch(() => null)) ?? new AppError("INTERNAL", `The server answered ${response.status}.`, {})
  const content = new Uint8Array(await response.arrayBuffer())
  const bytes = Number(/\/(\d+)$/.exec(response.headers.get("content-range") ?? "")?.[1] ?? content.length)
  const binary = content.subarray(0, 8000).includes(0)
  const truncated = bytes > content.length
  return { text: binary ? null : decode(content, truncated), bytes, etag: response.headers.get("etag") ?? "", truncated }
}

/** Of a file that goes on, the last line that came whole. */
function decode(content: Uint8Array, truncated: boolean): string {
  const text = new TextDecoder().decode(content)
  return truncated ? text.slice(0, text.lastIndexOf("\n") + 1) : text
}

export type UploadCondition = { absent: true } | { etag: string }

export function uploadFile(
  sessionId: string,
  path: string,
  file: File,
  condition: UploadCondition,
  onProgress: (percent: number) => void,
): Promise<FileWritten> {
  if (file.size > MAX_UPLOAD_BYTES)
    return Promise.reject(new Error(`It has ${formatBytes(file.size)}; at most ${formatBytes(MAX_UPLOAD_BYTES)} can be uploaded.`))
  const guard: Record<string, string> = "etag" in condition ? { "if-match": condition.etag } : { "if-none-match": "*" }
  const upload = { query: { path }, file: file.slice(0, file.size, "application/octet-stream"), headers: guard, onProgress }
  return call("PUT /api/v1/sessions/{sessionId}/file", { params: { sessionId }, ...upload })
}

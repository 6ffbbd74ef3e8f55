import { createHash } from "node:crypto"
import { createReadStream, createWriteStream } from "node:fs"
import { open, stat, truncate } from "node:fs/promises"
import http from "node:http"
import https from "node:https"
import { pipeline } from "node:stream/promises"
import { setTimeout as delay } from "node:timers/promises"
import type { PutParts, UploadedPart } from "../../../lib/contracts/agentctl/archive"
import { Failure, messageOf } from "../failure"

/** Moves archive files to and from presigned URLs. A URL is a secret: it is in no message and no log. */

/** A store that is silent for so long is asked again. */
const SILENCE_MS = 30_000
const TRIES = 4
const FIRST_BACK_OFF_MS = 200
const MAX_ANSWER_BYTES = 8 * 1024
/** Not every store answers the question; then the part goes without being asked for. */
const UNASKED_AFTER_MS = 1_000

type Parts = PutParts["parts"]

/** Each part until it is there. URL_EXPIRED says which were, so that only the rest needs new URLs. */
export async function uploadParts(file: string, parts: Parts): Promise<UploadedPart[]> {
  const done: UploadedPart[] = []
  const size = (await stat(file)).size
  for (const part of parts) {
    if (part.offset + part.length > size) throw new Failure("INVALID_INPUT", "A part lies beyond the end of the archive.")
    const etag = await persistently(() => putPart(file, part)).catch((error) => {
      if (error instanceof Failure) throw new Failure(error.code, error.message, { parts: done })
      throw error
    })
    done.push({ n: part.n, etag })
  }
  return done
}

async function putPart(file: string, { url, offset, length }: Parts[number]): Promise<string> {
  const range = { start: offset, end: offset + length - 1 }
  // The store refuses a part that was changed on its way. Read twice, because a part in memory is too much.
  const md5 = createHash("md5")
  for await (const chunk of createReadStream(file, range)) md5.update(chunk as Buffer)
  // Asked before it is sent: a store that refuses a URL closes the line on the body, and its answer would be lost in the reset.
  const headers = { "content-length": length, "content-md5": md5.digest("base64"), expect: "100-continue" }
  return new Promise((resolve, reject) => {
    const request = requestTo(url, { method: "PUT", headers })
    let asked = true
    const send = () => {
      if (!asked) return
      asked = false
      clearTimeout(patience)
      pipeline(createReadStream(file, range), request).catch((error) => reject(unreachable(error)))
    }
    const patience = setTimeout(send, UNASKED_AFTER_MS)
    request.on("continue", send)
    request.on("close", () => clearTimeout(patience))
    request.on("error", (error) => reject(unreachable(error)))
    request.on("response", (response) => {
      const refusedUnsent = asked
      asked = false
      const chunks: Buffer[] = []
      response.on("data", (chunk: Buffer) => chunks.push(chunk))
      response.on("error", (error) => reject(unreachable(error)))
      response.on("end", () => {
        const status = response.statusCode ?? 0
        const { etag } = response.headers
        if (status >= 200 && status < 300 && etag) return resolve(etag)
        reject(refused(status, Buffer.concat(chunks).toString("utf8", 0, MAX_ANSWER_BYTES)))
        if (refusedUnsent) request.destroy()
      })
    })
    request.flushHeaders()
  })
}

/** Downloads to `file`, going on where an earlier try stopped. */
export function download(url: string, file: string, bytes: number, signal: AbortSignal, tell: (bytes: number) => void): Promise<void> {
  return persistently(() => downloadOnce(url, file, bytes, signal, tell), signal)
}

async function downloadOnce(url: string, file: string, bytes: number, signal: AbortSignal, tell: (bytes: number) => void): Promise<void> {
  let have = await sizeOf(file)
  if (have > bytes) {
    await truncate(file, 0)
    have = 0
  }
  tell(have)
  if (have === bytes) return
  const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
    const request = requestTo(url, { method: "GET", headers: have > 0 ? { range: `bytes=${have}-` } : {}, signal })
    request.on("error", (error) => reject(unreachable(error)))
    request.on("response", resolve)
    request.end()
  })
  const status = response.statusCode ?? 0
  if (status !== 200 && status !== 206) {
    const chunks: Buffer[] = []
    for await (const chunk of response) chunks.push(chunk as Buffer)
    if (status === 416) throw new Failure("CHECKSUM_MISMATCH", "The stored archive is shorter than the one that was made.")
    throw refused(status, Buffer.concat(chunks).toString("utf8", 0, MAX_ANSWER_BYTES))
  }
  if (status === 200) have = 0
  const announced = Number(response.headers["content-length"] ?? Number.NaN)
  if (Number.isFinite(announced) && have + announced !== bytes) {
    response.destroy()
    throw new Failure("CHECKSUM_MISMATCH", `The stored archive has ${have + announced} bytes, not ${bytes}.`)
  }
  response.on("data", (chunk: Buffer) => {
    have += chunk.length
    tell(have)
  })
  const target = createWriteStream(file, status === 206 ? { flags: "a", mode: 0o600 } : { flags: "w", mode: 0o600 })
  await pipeline(response, target, { signal }).catch((error) => {
    throw isDisk(error) ? new Failure("DISK_FULL", "There is no room on the disk for the archive.") : unreachable(error)
  })
  if ((await sizeOf(file)) < bytes) throw unreachable(new Error("the answer broke off"))
  const handle = await open(file, "r+")
  await handle.sync().finally(() => handle.close())
}

/** A cut line is no refusal: it is tried again, a little later each time. */
async function persistently<T>(attempt: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt()
    } catch (error) {
      const passing = error instanceof Failure && error.code === "STORE_UNREACHABLE"
      if (!passing || tries >= TRIES || signal?.aborted) throw error
      await delay(FIRST_BACK_OFF_MS * 2 ** tries)
    }
  }
}

function requestTo(url: string, options: http.RequestOptions): http.ClientRequest {
  const request = (url.startsWith("https:") ? https : http).request(url, { ...options, agent: false })
  request.setTimeout(SILENCE_MS, () => request.destroy(new Error("the store is silent")))
  return request
}

function refused(status: number, answer: string): Failure {
  const code = /<Code>([A-Za-z]+)<\/Code>/.exec(answer)?.[1] ?? ""
  if (status === 404) return new Failure("ARCHIVE_MISSING", "The store has no such archive.")
  if (status === 403 || code === "ExpiredToken" || code === "RequestExpired")
    return new Failure("URL_EXPIRED", "The store no longer accepts the URL.")
  return new Failure("STORE_UNREACHABLE", `The store answered ${status} ${code}`.trim())
}

const unreachable = (error: unknown) =>
  new Failure("STORE_UNREACHABLE", `The store cannot be reached: ${messageOf(error).replace(/https?:\S+/g, "")}`)
const isDisk = (error: unknown) => ["ENOSPC", "EDQUOT"].includes((error as NodeJS.ErrnoException).code ?? "")
const sizeOf = async (file: string) => (await stat(file).catch(() => null))?.size ?? 0

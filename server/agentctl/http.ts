import { createHash, timingSafeEqual } from "node:crypto"
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { Failure, STATUS_OF } from "./failure"
import { GitFailure, saidByGit } from "./git-failure"
import type { Log } from "./log"
import { answer, type RouteContext } from "./routes"

const MAX_BODY_BYTES = 1024 * 1024

export interface HttpServer {
  endpoint: string
  /** When a caller that knew the secret was last heard, an open stream counting as now. */
  lastHeard(): number
  stop(): void
}

export async function listen(context: RouteContext, secret: string, log: Log): Promise<HttpServer> {
  let lastHeard = Date.now()
  let streams = 0
  const expected = digest(`Bearer ${secret}`)
  const server = createServer((message, response) => {
    const address = `http://agentctl${message.url ?? "/"}`
    // What throws here would leave the caller without an answer.
    if (!URL.canParse(address)) return send(response, 400, { code: "INVALID_INPUT", message: "That is no address." })
    const url = new URL(address)
    const isStream = url.pathname.endsWith("/events") || url.pathname.endsWith("/output")
    const work = async () => {
      if (!timingSafeEqual(digest(message.headers.authorization ?? ""), expected))
        throw new Failure("UNAUTHENTICATED", "The secret is missing or wrong.")
      lastHeard = Date.now()
      return answer(context, {
        method: message.method ?? "GET",
        path: url.pathname.split("/").filter((part) => part !== ""),
        query: url.searchParams,
        header: (name) => oneOf(message.headers[name]),
        body: async () => parseJson(await readBytes(message, MAX_BODY_BYTES)),
        bytes: (limit) => readBytes(message, limit),
        message,
        response,
      })
    }
    if (isStream) streams++
    work()
      .then((body) => body && send(response, 200, body))
      .catch((error) => sendFailure(response, error, log, `${message.method} ${url.pathname}`))
      .finally(() => {
        if (isStream) streams--
        lastHeard = streams > 0 ? Date.now() : lastHeard
      })
  })
  // An event stream stays open for days; an idle connection must outlive the caller's pause between two calls.
  server.requestTimeout = 0
  server.keepAliveTimeout = 65_000
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject)
    server.listen(0, "127.0.0.1", resolve)
  })
  server.on("clientError", (_error, socket) => {
    if (!socket.writable) socket.destroy()
    else socket.end("HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", () => socket.destroy())
  })
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    lastHeard: () => (streams > 0 ? Date.now() : lastHeard),
    stop: () => stop(server),
  }
}

function stop(server: Server): void {
  server.close()
  server.closeAllConnections()
}

function send(response: ServerResponse, status: number, body: object): void {
  if (response.headersSent || response.destroyed) return
  const text = JSON.stringify(body)
  response.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(text) })
  response.end(text)
}

function sendFailure(response: ServerResponse, error: unknown, log: Log, call: string): void {
  if (error instanceof Failure) {
    if (error instanceof GitFailure) log.warn("git.failed", { call, message: error.message, ...saidByGit(error) })
    const status = error.details.status === 413 ? 413 : STATUS_OF[error.code]
    return send(response, status, { ...error.details, code: error.code, message: error.message })
  }
  log.error("http.failed", error, { call })
  if (response.headersSent) response.destroy()
  else send(response, 500, { code: "INTERNAL", message: "The daemon failed; its log says why." })
}

async function readBytes(message: IncomingMessage, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of message as AsyncIterable<Buffer>) {
    bytes += chunk.length
    // Read to its end, so that the answer is not lost in a reset connection.
    if (bytes <= limit) chunks.push(chunk)
    else chunks.length = 0
    if (bytes > 16 * MAX_BODY_BYTES) break
  }
  if (bytes > limit) throw new Failure("INVALID_INPUT", `A body has at most ${limit} bytes.`, { status: 413 })
  return Buffer.concat(chunks)
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8"))
  } catch {
    throw new Failure("INVALID_INPUT", "The body is no JSON.")
  }
}

const digest = (text: string): Buffer => createHash("sha256").update(text).digest()
const oneOf = (value: string | string[] | undefined): string | undefined => (Array.isArray(value) ? value[0] : value)

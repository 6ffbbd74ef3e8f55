import http from "node:http"
import { Readable } from "node:stream"
import type { z } from "zod"
import type { OptionValues } from "../../lib/contracts/agent-setup"
import {
  ArchiveState,
  type PutArchive,
  type PutParts,
  PutPartsAnswer,
  type PutRestore,
  RestoreState,
} from "../../lib/contracts/agentctl/archive"
import {
  DaemonError,
  type DaemonErrorCode,
  DaemonSession,
  EPOCH_HEADER,
  Health,
  type PutAgent,
  PutAgentAnswer,
  PutOptionsAnswer,
  type PutPrompt,
  PutPromptAnswer,
  type PutSession,
} from "../../lib/contracts/agentctl/protocol"
import type { Outcome } from "../../lib/contracts/waits"
import { DURATIONS } from "../../lib/host/durations"
import { ptyCalls } from "./pty-calls"
import { workspaceCalls } from "./workspace-calls"

export type Endpoint = { url: string; secret: string; instance_id: string }

/** The daemon answered, and refused. Whatever it refused was not done. */
export class DaemonRefused extends Error {
  constructor(
    readonly code: DaemonErrorCode,
    message: string,
    readonly body: Record<string, unknown>,
  ) {
    super(message)
  }
}
/** No answer: the call may or may not have been carried out. */
export class DaemonUnreachable extends Error {
  override readonly name = "DaemonUnreachable"
}

/** A browser may be slow to send the next piece of a file; a daemon that takes none of it for so long is stopped. */
const UPLOAD_SILENCE_MS = 60_000

/** Agents take seconds to start and to load; the daemon itself gives up after a minute. */
const AGENT_START_TIMEOUT_MS = 120_000
/** A person signs in meanwhile; the daemon gives up first. */
const SIGN_IN_TIMEOUT_MS = 6 * 60_000
/** An agent takes seconds for each of a few options. */
const SETTING_TIMEOUT_MS = 60_000
/** Some parts of an archive, or a picture, over a slow line. */
const UPLOAD_TIMEOUT_MS = 10 * 60_000

const agent = new http.Agent({ keepAlive: true, maxSockets: 64 })

/** Segments of the path, not yet encoded, and the query. */
export type Target = { path: readonly string[]; query?: Record<string, string | number | undefined> }
/** `bytes` go as they are, in place of a body in JSON. */
type Call = Target & { method: string; body?: unknown; bytes?: Uint8Array; epoch?: number; timeoutMs?: number }
/** A body that is neither held nor parsed, in either direction. */
export type Exchange = Target & {
  method: string
  headers?: Record<string, string>
  epoch?: number
  body?: AsyncIterable<Uint8Array>
  /** Statuses that are an answer, not a refusal. */
  accept: number[]
}
export type Transport = {
  call: (options: Call) => Promise<unknown>
  ask: <S extends z.ZodType>(schema: S, options: Call) => Promise<z.infer<S>>
  open: (target: Target, signal: AbortSignal) => Promise<http.IncomingMessage>
  exchange: (options: Exchange) => Promise<http.IncomingMessage>
  path: (sessionId: string, ...rest: string[]) => readonly string[]
}

/**
 * The only place where an address of agentctl is put together. Ids in it may come from an imported log: unescaped, `../ptys/x?` in
 * one would turn an upload into the start of a terminal. Dots are refused, since a URL resolves them even when they are escaped.
 */
export function addressOf({ path, query = {} }: Target): string {
  for (const segment of path) if (/^\.{0,2}$/.test(segment)) throw new Error(`not a segment of a path: ${JSON.stringify(segment)}`)
  const given = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]))
  return `/${path.map(encodeURIComponent).join("/")}${given.length > 0 ? `?${new URLSearchParams(given)}` : ""}`
}

export function createAgentctlClient(endpoint: Endpoint) {
  const headers = (epoch?: number) => ({
    authorization: `Bearer ${endpoint.secret}`,
    ...(epoch === undefined ? {} : { [EPOCH_HEADER]: String(epoch) }),
  })

  /** node:http, because the first built-in fetch of a process may never settle when the peer is just starting. */
  function call({ method, body, bytes, epoch, timeoutMs = DURATIONS.callMs, ...target }: Call): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const address = addressOf(target)
      const content = bytes ?? (body === undefined ? undefined : JSON.stringify(body))
      const type = bytes ? "application/octet-stream" : "application/json"
      const request = http.request(`${endpoint.url}${address}`, {
        method,
        agent,
        headers: {
          ...headers(epoch),
          ...(content === undefined ? {} : { "content-type": type, "content-length": Buffer.byteLength(content) }),
        },
      })
      const timer = setTimeout(() => request.destroy(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs)
      request.on("error", (cause) => {
        clearTimeout(timer)
        reject(new DaemonUnreachable(`agentctl did not answer ${method} ${address}: ${cause.message}`, { cause }))
      })
      request.on("response", (response) => {
        const chunks: Buffer[] = []
        response.on("data", (chunk: Buffer) => chunks.push(chunk))
        response.on("error", (cause) => reject(new DaemonUnreachable("agentctl's answer broke off", { cause })))
        response.on("end", () => {
          clearTimeout(timer)
          settleResponse(response.statusCode ?? 0, Buffer.concat(chunks).toString("utf8"), resolve, reject)
        })
      })
      request.end(content)
    })
  }

  const ask = async <S extends z.ZodType>(schema: S, options: Call): Promise<z.infer<S>> => schema.parse(await call(options))
  const path = (sessionId: string, ...rest: string[]) => ["sessions", sessionId, ...rest]

  /** A stream of its own, outside the pool: it stays open and would starve the calls. Settles when the answer's head has arrived. */
  const open = (target: Target, signal: AbortSignal): Promise<http.IncomingMessage> =>
    new Promise((resolve, reject) => {
      const request = http.get(`${endpoint.url}${addressOf(target)}`, { headers: headers(), signal, agent: false })
      request.on("error", (cause) => reject(new DaemonUnreachable(`agentctl's stream failed: ${cause.message}`, { cause })))
      request.on("response", (response) => {
        if (response.statusCode === 200) return resolve(response)
        const chunks: Buffer[] = []
        response.on("data", (chunk: Buffer) => chunks.push(chunk))
        response.on("error", () => reject(new DaemonUnreachable("agentctl's answer broke off")))
        response.on("end", () => settleResponse(response.statusCode ?? 0, Buffer.concat(chunks).toString("utf8"), () => {}, reject))
      })
    })

  function exchange({ method, headers: extra, epoch, body, accept, ...target }: Exchange): Promise<http.IncomingMessage> {
    return new Promise((resolve, reject) => {
      const address = addressOf(target)
      const request = http.request(`${endpoint.url}${address}`, { method, agent: false, headers: { ...headers(epoch), ...extra } })
      const source = Readable.from(body ?? [])
      const silenceMs = body ? UPLOAD_SILENCE_MS : DURATIONS.callMs
      request.setTimeout(silenceMs, () => request.destroy(new Error(`no answer within ${silenceMs} ms`)))
      request.on("error", (cause) => {
        source.destroy()
        reject(new DaemonUnreachable(`agentctl did not answer ${method} ${address}: ${cause.message}`, { cause }))
      })
      request.on("response", (response) => {
        // From here on the reader holds the daemon back as long as it likes.
        request.setTimeout(0)
        if (accept.includes(response.statusCode ?? 0)) return resolve(response)
        const chunks: Buffer[] = []
        response.on("data", (chunk: Buffer) => chunks.push(chunk))
        response.on("error", () => reject(new DaemonUnreachable("agentctl's answer broke off")))
        response.on("end", () => settleResponse(response.statusCode ?? 0, Buffer.concat(chunks).toString("utf8"), () => {}, reject))
      })
      // Half a body must not arrive as a whole one.
      source.on("error", (cause) => request.destroy(cause))
      source.pipe(request)
    })
  }

  return {
    endpoint,
    health: (timeoutMs = DURATIONS.callMs) => ask(Health, { method: "GET", path: ["health"], timeoutMs }),
    session: (id: string) => ask(DaemonSession, { method: "GET", path: path(id) }),
    putSession: (id: string, epoch: number, body: PutSession) =>
      ask(DaemonSession, { method: "PUT", path: path(id), body, epoch, timeoutMs: AGENT_START_TIMEOUT_MS }),
    /** What runs under a lower generation is ended. A daemon older than this call does not know it. */
    putGeneration: (id: string, epoch: number, generation: number) =>
      ask(DaemonSession, { method: "PUT", path: path(id, "generation"), body: { generation }, epoch }),
    /** With a generation the daemon refuses when it has seen a newer one: what is to be deleted has come back since. */
    removeSession: (id: string, epoch: number, generation?: number) =>
      call({ method: "DELETE", path: path(id), query: { generation }, epoch, timeoutMs: AGENT_START_TIMEOUT_MS }),
    putArchive: (id: string, epoch: number, archiveId: string, body: PutArchive) =>
      ask(ArchiveState, { method: "PUT", path: path(id, "archive", archiveId), body, epoch }),
    archive: (id: string, archiveId: string) => ask(ArchiveState, { method: "GET", path: path(id, "archive", archiveId) }),
    putArchiveParts: (id: string, epoch: number, archiveId: string, body: PutParts) =>
      ask(PutPartsAnswer, { method: "PUT", path: path(id, "archive", archiveId, "parts"), body, epoch, timeoutMs: UPLOAD_TIMEOUT_MS }),
    dropArchive: (id: string, epoch: number, archiveId: string) => call({ method: "DELETE", path: path(id, "archive", archiveId), epoch }),
    putRestore: (id: string, epoch: number, archiveId: string, body: PutRestore) =>
      ask(RestoreState, { method: "PUT", path: path(id, "restore", archiveId), body, epoch }),
    restore: (id: string, archiveId: string) => ask(RestoreState, { method: "GET", path: path(id, "restore", archiveId) }),
    putAgent: (id: string, epoch: number, body: PutAgent) => {
      const timeoutMs = body.sign_in === undefined ? AGENT_START_TIMEOUT_MS : AGENT_START_TIMEOUT_MS + SIGN_IN_TIMEOUT_MS
      return ask(PutAgentAnswer, { method: "PUT", path: path(id, "agent"), body, epoch, timeoutMs })
    },
    /** Those that could not be set. */
    putOptions: async (id: string, epoch: number, options: OptionValues) =>
      (await ask(PutOptionsAnswer, { method: "PUT", path: path(id, "options"), body: { options }, epoch, timeoutMs: SETTING_TIMEOUT_MS }))
        .refused,
    stopAgent: (id: string, epoch: number) => call({ method: "DELETE", path: path(id, "agent"), epoch }),
    putAttachment: (id: string, epoch: number, file: { sha256: string; name: string }, bytes: Uint8Array) =>
      call({
        method: "PUT",
        path: path(id, "attachments", file.sha256),
        query: { name: file.name },
        bytes,
        epoch,
        timeoutMs: UPLOAD_TIMEOUT_MS,
      }),
    putPrompt: (id: string, epoch: number, promptId: string, body: PutPrompt) =>
      ask(PutPromptAnswer, { method: "PUT", path: path(id, "prompts", promptId), body, epoch }),
    cancel: (id: string, epoch: number, run_id: string) => call({ method: "POST", path: path(id, "cancel"), body: { run_id }, epoch }),
    putPermission: (id: string, epoch: number, permissionId: string, outcome: Outcome) =>
      call({ method: "PUT", path: path(id, "permissions", permissionId), body: { outcome }, epoch }),
    ack: (id: string, epoch: number, spool_id: string, n: number) =>
      call({ method: "PUT", path: path(id, "ack"), body: { spool_id, n }, epoch }),
    shutdown: () => call({ method: "POST", path: ["shutdown"], body: {} }),

    ...ptyCalls({ call, ask, open, path }),
    ...workspaceCalls({ ask, open, exchange, path }),

    /** The spool from a cursor, for as long as both sides live. */
    openEvents(id: string, after: number, spool_id: string | null, signal: AbortSignal) {
      return open({ path: path(id, "events"), query: { after, spool_id: spool_id ?? undefined } }, signal)
    },
  }
}
export type AgentctlClient = ReturnType<typeof createAgentctlClient>

function settleResponse(status: number, text: string, resolve: (value: unknown) => void, reject: (error: Error) => void) {
  let body: unknown
  try {
    body = text === "" ? null : JSON.parse(text)
  } catch (cause) {
    return reject(new DaemonUnreachable(`agentctl answered ${status} with something that is not JSON`, { cause }))
  }
  if (status >= 200 && status < 300) return resolve(body)
  const refusal = DaemonError.safeParse(body)
  if (!refusal.success) return reject(new DaemonUnreachable(`agentctl answered ${status}`))
  reject(new DaemonRefused(refusal.data.code, refusal.data.message, body as Record<string, unknown>))
}

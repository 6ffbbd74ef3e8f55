import { type Server as HttpServer, type IncomingMessage, ServerResponse } from "node:http"
import { Server, type Socket } from "socket.io"
import type { z } from "zod"
import { AppError, type ErrorBody, isAppError, toErrorBody } from "../../lib/contracts/errors"
import type { EventKind, SessionEvent } from "../../lib/contracts/events"
import type { RestoreProgress } from "../../lib/contracts/restore"
import { type Ack, type ClientToServerEvents, pushNameOf, type ServerToClientEvents } from "../../lib/contracts/socket"
import { type SocketRequest, socketRequests } from "../../lib/contracts/socket-requests"
import type { WorkerExit, WorkerOutput, WorkerRedraw } from "../../lib/contracts/workers"
import { DURATIONS } from "../../lib/host/durations"
import type { Audit } from "../audit"
import { type Caller, type Credentials, requireSession } from "../auth"
import { type Journal, journalGeneration } from "../journal"
import type { Database } from "../platform/database"
import type { RefusedAnswer } from "../platform/gate"
import { inPortions } from "../platform/in-portions"
import type { Logger } from "../platform/logger"
import { unavailableError } from "../platform/unavailable-error"
import { requireCursor, type Sessions } from "../sessions"
import type { Workers } from "../workers"
import type { Workspace } from "../workspace"
import { createSessionChannel, type SessionChannel } from "./session-channel"
import { createWorkerConnection, createWorkerRooms } from "./worker-connection"
import { createWorkspaceViewer } from "./workspace-viewer"

/** Packets a connection may have unsent before its subscriptions fall back to catching up from the journal. */
const MAX_UNSENT = 256
/** The same for terminals, whose packets are large: more would be output kept here that belongs in the daemon. */
const MAX_UNSENT_OUTPUT = 8
const MAX_SUBSCRIPTIONS = 100

/** `standing`: what the user might do when the socket was opened; another standing needs another socket. */
type Data = { caller: Caller; standing: string; address: string; channels: Map<string, SessionChannel> }
type GatewaySocket = Socket<ClientToServerEvents, ServerToClientEvents, Record<string, never>, Data>

export type GatewayDeps = {
  http: HttpServer
  journal: Journal
  db: Database
  sessions: Sessions
  workers: Workers
  workspace: Workspace
  currentUser: (credentials: Credentials) => Promise<Caller | null>
  /** The standing of these callers now; null for one whose sign-in or token is over. In the order they were given. */
  standings: (callers: readonly Caller[]) => Promise<(string | null)[]>
  addressOf: (request: IncomingMessage) => string
  audit: Audit
  /** What a request is told that may not come in; null for one that may. */
  refuse: (request: IncomingMessage) => RefusedAnswer | null
  setHeaders: (request: IncomingMessage, response: ServerResponse) => void
  logger: Logger
}

/** Events that change what the task list shows. */
const LISTED: ReadonlySet<EventKind> = new Set<EventKind>([
  "session.state_changed",
  "status.derived",
  "run.started",
  "run.waiting",
  "run.resumed",
  "run.completed",
  "run.failed",
  "run.cancelled",
  "run.interrupted",
  "executor.ready",
  "executor.error",
  "executor.stopped",
  "executor.reaping",
  "executor.deleted",
  "restore.requested",
  "prompt.queued",
  "agent.started",
  "agent.exited",
  "token.revoked",
])

/** Sockets only translate: who asks, for which session, from which cursor. */
export function createGateway(deps: GatewayDeps) {
  const io = new Server<ClientToServerEvents, ServerToClientEvents, Record<string, never>, Data>(deps.http, {
    destroyUpgrade: false,
    serveClient: false,
    maxHttpBufferSize: 1 << 20,
  })
  // For every request and upgrade: `allowRequest` is asked only when a connection is made, and its id would then let anybody in.
  io.engine.use((request: IncomingMessage, response: ServerResponse, next: (error?: Error) => void) => {
    deps.setHeaders(request, response)
    const refused = deps.refuse(request)
    if (refused === null) return next()
    // An upgrade has no response to write to: the error ends it.
    if (!(response instanceof ServerResponse)) return next(new Error(refused.body))
    response.writeHead(refused.status, { "content-type": refused.type })
    response.end(refused.body)
  })
  const channelsOf = new Map<string, Set<SessionChannel>>()
  const rooms = createWorkerRooms()

  io.use(async (socket, next) => {
    const { token } = socket.handshake.auth as { token?: unknown }
    const credentials = {
      authorization: typeof token === "string" ? `Bearer ${token}` : undefined,
      cookie: socket.handshake.headers.cookie,
    }
    const refuse = (data: ErrorBody) => next(Object.assign(new Error(data.message), { data }))
    try {
      const caller = await deps.currentUser(credentials)
      const [standing = null] = caller ? await deps.standings([caller]) : []
      if (!caller || standing === null) return refuse({ code: "UNAUTHENTICATED", message: "Sign in first." })
      socket.data = { caller, standing, address: deps.addressOf(socket.request), channels: new Map() }
      next()
    } catch (error) {
      // Not known to be signed out: a page told so would leave for the sign-in.
      refuse(bodyOf(error))
    }
  })

  io.on("connection", (socket: GatewaySocket) => {
    const { caller, channels } = socket.data
    socket.join(`user:${caller.person.id}`)
    /** One request: its shape and what a token needs for it are in the table. */
    const on = <N extends SocketRequest>(name: N, work: (request: Asked<N>) => Promise<Answered<N>>) => {
      const listener = (request: unknown, ack?: Ack<Reply<N>>) =>
        answer(socket, ack ?? (() => {}), async () => {
          requireScope(caller, name)
          return work(parse(socketRequests[name].request, request) as Asked<N>)
        })
      socket.on(name, listener as never)
    }

    const leave = (sessionId: string) => {
      const channel = channels.get(sessionId)
      if (!channel) return
      channel.close()
      channels.delete(sessionId)
      const set = channelsOf.get(sessionId)
      set?.delete(channel)
      if (set?.size === 0) channelsOf.delete(sessionId)
    }

    on("session.subscribe", async ({ session_id, after_seq, generation: known }) => {
      const session = await requireSession(deps.db, caller.person, session_id)
      const generation = await journalGeneration(deps.db)
      // Another generation is another log: the client loads again from 0, whatever it had seen.
      const after = known !== undefined && known !== generation ? 0 : after_seq
      requireCursor(after, session.last_seq)
      if (channels.size >= MAX_SUBSCRIPTIONS && !channels.has(session_id)) {
        throw new AppError("RATE_LIMITED", "Too many subscriptions on one connection.", { retry_after_seconds: 0 })
      }
      leave(session_id)
      const channel = createSessionChannel(deps.journal, session_id, after, sinkOf(socket, session.task_id, deps.logger))
      channels.set(session_id, channel)
      channelsOf.set(session_id, (channelsOf.get(session_id) ?? new Set()).add(channel))
      return { reply: { head_seq: session.last_seq, generation }, start: () => void channel.start() }
    })
    on("session.unsubscribe", async ({ session_id }) => {
      leave(session_id)
      return { reply: {} }
    })
    on("task.session.status", async ({ session_id }) => ({ reply: await deps.sessions.status(caller.person, session_id) }))
    on("task.session.resume", async ({ session_id, fresh }) => ({
      reply: await deps.sessions.resume(caller.person, session_id, { fresh }),
    }))
    const watching = createWorkspaceViewer(deps.workspace, caller.person, (session_id) => socket.emit("workspace.changed", { session_id }))
    on("workspace.watch", async ({ session_id }) => {
      await watching.watch(session_id)
      return { reply: {} }
    })
    on("workspace.unwatch", async ({ session_id }) => {
      watching.unwatch(session_id)
      return { reply: {} }
    })
    const terminals = createWorkerConnection({ ...deps, rooms, person: caller.person, sink: workerSinkOf(socket) })
    on("worker.attach", (request) => terminals.attach(request))
    on("worker.input", async (request) => {
      await terminals.input(request)
      return { reply: {} }
    })
    on("worker.resize", async (request) => {
      await terminals.resize(request)
      return { reply: {} }
    })
    on("worker.ack", async (request) => {
      terminals.acknowledge(request)
      return { reply: {} }
    })
    on("worker.detach", async (request) => {
      terminals.detach(request)
      return { reply: {} }
    })
    socket.on("disconnect", () => {
      terminals.close()
      watching.close()
      for (const sessionId of [...channels.keys()]) leave(sessionId)
    })
  })

  const unfollow = deps.journal.follow((session, events) => {
    for (const channel of channelsOf.get(session.id) ?? []) channel.committed(events)
    if (events.some((event) => LISTED.has(event.kind))) announce(session.user_id, session.task_id)
  })

  function announce(userId: string, taskId: number) {
    io.to(`user:${userId}`).emit("task.changed", { task_id: taskId })
  }

  async function answer<T>(socket: GatewaySocket, ack: Ack<T>, work: () => Promise<{ reply: T; start?: () => void }>) {
    if (typeof ack !== "function") return
    try {
      const { reply, start } = await work()
      ack(reply)
      start?.()
    } catch (error) {
      const { caller, address } = socket.data
      if (isAppError(error)) await deps.audit.trail(null, { caller, address }).refused(error)
      ack({ error: bodyOf(error) })
    }
  }

  /**
   * Closes the sockets of sign-ins and tokens that are over, and of users who may do other things now than when they connected: a
   * socket would outlive all of that. Asked after each such change, and from time to time, since a notice may be lost.
   */
  async function recheck(): Promise<void> {
    const sockets = [...io.sockets.sockets.values()]
    const standings = await deps.standings(sockets.map((socket) => socket.data.caller))
    for (const [i, socket] of sockets.entries()) if (standings[i] !== socket.data.standing) socket.disconnect(true)
  }
  const rechecking = setInterval(
    () => void recheck().catch((error) => deps.logger.warn({ err: error }, "open sockets could not be checked")),
    DURATIONS.socketCheckMs,
  )
  rechecking.unref()
  function bodyOf(error: unknown): ErrorBody {
    if (isAppError(error)) return toErrorBody(error)
    const unavailable = unavailableError(error)
    if (unavailable) {
      deps.logger.warn({ err: error }, "socket request failed")
      return toErrorBody(unavailable)
    }
    deps.logger.error({ err: error }, "socket request failed")
    return { code: "INTERNAL", message: "Something went wrong on the server." }
  }

  return {
    announce,
    restoreProgress: (userId: string, progress: RestoreProgress) => void io.to(`user:${userId}`).emit("session.restore_progress", progress),
    /** Another server appended to this session. */
    async grewTo(sessionId: string, head: number) {
      for (const channel of channelsOf.get(sessionId) ?? []) channel.grewTo(head)
      if (io.engine.clientsCount === 0) return
      const session = await deps.db.session.findUnique({ where: { id: sessionId }, select: { user_id: true, task_id: true } })
      if (session) announce(session.user_id, session.task_id)
    },
    /** Other servers may have appended without being heard. */
    async lookAgain() {
      const heads = await inPortions([...channelsOf.keys()], (portion) =>
        deps.db.session.findMany({ where: { id: { in: portion } }, select: { id: true, last_seq: true } }),
      )
      for (const { id, last_seq } of heads) for (const channel of channelsOf.get(id) ?? []) channel.grewTo(last_seq)
    },
    /** For every open page, whoever looks at it. */
    tellTrouble: (error: AppError) => void io.emit("server.trouble", toErrorBody(error)),
    recheck,
    connections: () => io.engine.clientsCount,
    async close() {
      clearInterval(rechecking)
      unfollow()
      await io.close()
    },
  }
}
export type Gateway = ReturnType<typeof createGateway>

type Asked<N extends SocketRequest> = z.output<(typeof socketRequests)[N]["request"]>
type Reply<N extends SocketRequest> = Parameters<ClientToServerEvents[N]> extends [unknown, (Ack<infer T> | undefined)?] ? T : object
type Answered<N extends SocketRequest> = { reply: Reply<N>; start?: () => void }

function requireScope({ scopes }: Caller, name: SocketRequest): void {
  const { scope } = socketRequests[name]
  if (scopes && !scopes.includes(scope)) throw new AppError("FORBIDDEN", `This token does not have the scope "${scope}".`, {})
}

function parse<S extends z.ZodType>(schema: S, value: unknown): z.infer<S> {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const issues = result.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`)
  throw new AppError("INVALID_INPUT", "The request is malformed.", { issues })
}

const unsentOn = (socket: GatewaySocket) => (socket.conn as unknown as { writeBuffer: unknown[] }).writeBuffer.length

const workerSinkOf = (socket: GatewaySocket) => ({
  output: (output: WorkerOutput) => void socket.emit("worker.output", output),
  redraw: (redraw: WorkerRedraw) => void socket.emit("worker.redraw", redraw),
  exit: (exit: WorkerExit) => void socket.emit("worker.exit", exit),
  isFull: () => unsentOn(socket) > MAX_UNSENT_OUTPUT,
  whenRoom: (callback: () => void) => void socket.conn.once("drain", callback),
})

function sinkOf(socket: GatewaySocket, task_id: number, logger: Logger) {
  return {
    push: (event: SessionEvent) => void socket.emit(pushNameOf(event.kind), { ...event, task_id }),
    isFull: () => unsentOn(socket) > MAX_UNSENT,
    whenRoom: (callback: () => void) => void socket.conn.once("drain", callback),
    failed: (error: unknown) => {
      logger.error({ err: error }, "a subscription failed; its client reconnects")
      socket.disconnect(true)
    },
  }
}

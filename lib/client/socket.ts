import { io, type Socket } from "socket.io-client"
import { fromErrorBody } from "@/lib/contracts/errors"
import type { RestoreProgress } from "@/lib/contracts/restore"
import { type ClientToServerEvents, PUSH_NAMES, type PushedEvent, type Refused, type ServerToClientEvents } from "@/lib/contracts/socket"
import type { SessionStatusReport } from "@/lib/contracts/status"
import type { AttachWorker, WorkerAttached, WorkerExit, WorkerOutput, WorkerRedraw } from "@/lib/contracts/workers"
import { noteTrouble } from "./server-trouble"

/** One connection per page. Sessions subscribe through it, and are subscribed again from where they were after every reconnect. */
export type ConnectionState = "connecting" | "connected" | "reconnecting" | "signed_out"

/** A server that ends the connection is restarting or has signed us out; socket.io does not come back by itself then. */
const RETRY_AFTER_SERVER_CLOSE_MS = 1000
/** A request to a hung server is given up, and asked over HTTP instead. */
const REQUEST_TIMEOUT_MS = 5000

export type SessionSubscriber = {
  cursor(): { after_seq: number; generation?: string }
  onEvent(event: PushedEvent): void
  onSubscribed(ack: { head_seq: number; generation: string }): void
  onRefused(error: Error): void
}

export type WorkerListener = {
  onConnected(): void
  onDisconnected(): void
  onOutput(output: WorkerOutput): void
  onRedraw(redraw: WorkerRedraw): void
  onExit(exit: WorkerExit): void
}
type WhichWorker = { session_id: string; worker_id: string }

let socket: Socket<ServerToClientEvents, ClientToServerEvents> | null = null
let state: ConnectionState = "connecting"
const stateListeners = new Set<() => void>()
const taskListeners = new Set<(taskId: number) => void>()
const progressListeners = new Set<(progress: RestoreProgress) => void>()
const subscribers = new Map<string, SessionSubscriber>()
const workerListeners = new Map<string, WorkerListener>()
const workspaceListeners = new Map<string, Set<() => void>>()

function setState(next: ConnectionState): void {
  if (state === next) return
  state = next
  for (const listener of stateListeners) listener()
}

function connection(): Socket<ServerToClientEvents, ClientToServerEvents> {
  if (socket) return socket
  const opened: Socket<ServerToClientEvents, ClientToServerEvents> = io({
    transports: ["websocket", "polling"],
    tryAllTransports: true,
    reconnectionDelay: 300,
    reconnectionDelayMax: 3000,
  })
  opened.on("connect", () => {
    setState("connected")
    for (const sessionId of subscribers.keys()) sendSubscribe(opened, sessionId)
    for (const listener of workerListeners.values()) listener.onConnected()
    for (const sessionId of workspaceListeners.keys()) sendWatch(opened, sessionId)
  })
  opened.on("disconnect", (reason) => {
    setState("reconnecting")
    for (const listener of workerListeners.values()) listener.onDisconnected()
    if (reason === "io server disconnect") setTimeout(() => opened.connect(), RETRY_AFTER_SERVER_CLOSE_MS)
  })
  opened.on("connect_error", (error) => {
    const data = (error as Error & { data?: { code?: string } }).data
    if (data?.code === "UNAUTHENTICATED") {
      opened.disconnect()
      setState("signed_out")
      return
    }
    noteTrouble(fromErrorBody(data))
    setState("reconnecting")
    // A refusal by the server itself (not the transport) is not retried by socket.io.
    if (!opened.active) setTimeout(() => opened.connect(), RETRY_AFTER_SERVER_CLOSE_MS)
  })
  for (const name of PUSH_NAMES) opened.on(name, (event: PushedEvent) => subscribers.get(event.session_id)?.onEvent(event))
  opened.on("task.changed", ({ task_id }) => {
    for (const listener of taskListeners) listener(task_id)
  })
  opened.on("session.restore_progress", (progress) => {
    for (const listener of progressListeners) listener(progress)
  })
  // A page that asks for nothing would not notice by itself.
  opened.on("server.trouble", (error) => noteTrouble(fromErrorBody(error)))
  opened.on("workspace.changed", ({ session_id }) => tellWorkspace(session_id))
  opened.on("worker.output", (output) => workerListeners.get(output.worker_id)?.onOutput(output))
  opened.on("worker.redraw", (redraw) => workerListeners.get(redraw.worker_id)?.onRedraw(redraw))
  opened.on("worker.exit", (exit) => workerListeners.get(exit.worker_id)?.onExit(exit))
  socket = opened
  return opened
}

function sendSubscribe(to: Socket<ServerToClientEvents, ClientToServerEvents>, sessionId: string): void {
  const subscriber = subscribers.get(sessionId)
  if (!subscriber) return
  to.emit("session.subscribe", { session_id: sessionId, ...subscriber.cursor() }, (answer) => {
    if (subscribers.get(sessionId) !== subscriber) return
    if (!isRefused(answer)) return subscriber.onSubscribed(answer)
    const error = fromErrorBody(answer.error)
    // The page subscribes again when the server's trouble is over, which it has to know of.
    noteTrouble(error)
    subscriber.onRefused(error ?? new Error("The subscription was refused."))
  })
}

const isRefused = (answer: object): answer is Refused => "error" in answer

export function subscribeSession(sessionId: string, subscriber: SessionSubscriber): () => void {
  subscribers.set(sessionId, subscriber)
  const open = connection()
  if (open.connected) sendSubscribe(open, sessionId)
  return () => {
    if (subscribers.get(sessionId) !== subscriber) return
    subscribers.delete(sessionId)
    if (open.connected) open.emit("session.unsubscribe", { session_id: sessionId })
  }
}

const tellWorkspace = (sessionId: string) => {
  for (const listener of workspaceListeners.get(sessionId) ?? []) listener()
}

/** What changed before the watch was there, or while it was not, is told by nobody: so everybody looks once more. */
function sendWatch(to: Socket<ServerToClientEvents, ClientToServerEvents>, sessionId: string): void {
  to.emit("workspace.watch", { session_id: sessionId }, (answer) => {
    if (!isRefused(answer)) tellWorkspace(sessionId)
  })
}

/** Calls back whenever something in the session's workspace may have changed. */
export function watchWorkspace(sessionId: string, listener: () => void): () => void {
  const open = connection()
  const known = workspaceListeners.get(sessionId)
  const listeners = known ?? new Set()
  listeners.add(listener)
  workspaceListeners.set(sessionId, listeners)
  if (!known && open.connected) sendWatch(open, sessionId)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0 || workspaceListeners.get(sessionId) !== listeners) return
    workspaceListeners.delete(sessionId)
    if (open.connected) open.emit("workspace.unwatch", { session_id: sessionId })
  }
}

export function onTaskChanged(listener: (taskId: number) => void): () => void {
  taskListeners.add(listener)
  connection()
  return () => taskListeners.delete(listener)
}

export function onRestoreProgress(listener: (progress: RestoreProgress) => void): () => void {
  progressListeners.add(listener)
  connection()
  return () => progressListeners.delete(listener)
}

export function onConnectionState(listener: () => void): () => void {
  stateListeners.add(listener)
  connection()
  return () => stateListeners.delete(listener)
}
export const connectionState = () => state

export function disconnect(): void {
  socket?.disconnect()
  socket = null
  state = "connecting"
}

/** Null when the socket cannot answer now; the caller asks over HTTP. */
export async function askStatus(sessionId: string): Promise<SessionStatusReport | null> {
  if (!socket?.connected) return null
  const answer = await socket
    .timeout(REQUEST_TIMEOUT_MS)
    .emitWithAck("task.session.status", { session_id: sessionId })
    .catch(() => null)
  return answer === null || isRefused(answer) ? null : answer
}

export async function askResume(sessionId: string): Promise<boolean> {
  if (!socket?.connected) return false
  const answer = await socket
    .timeout(REQUEST_TIMEOUT_MS)
    .emitWithAck("task.session.resume", { session_id: sessionId })
    .catch(() => null)
  return answer !== null && !isRefused(answer)
}

/** A terminal's end of the connection. It is told whenever there is one, and attaches then; it detaches when it lets go. */
export function watchWorker(which: WhichWorker, listener: WorkerListener): () => void {
  workerListeners.set(which.worker_id, listener)
  const open = connection()
  if (open.connected) listener.onConnected()
  return () => {
    if (workerListeners.get(which.worker_id) !== listener) return
    workerListeners.delete(which.worker_id)
    if (open.connected) open.emit("worker.detach", which)
  }
}

/** Starting a process may take a while; a server that says nothing for so long is asked again. */
const ATTACH_TIMEOUT_MS = 40_000

/** Answered in the same turn as the answer arrives: output may follow in that very message. */
export function attachWorker(request: AttachWorker, done: (outcome: { attached: WorkerAttached } | { error: unknown }) => void): void {
  connection()
    .timeout(ATTACH_TIMEOUT_MS)
    .emit("worker.attach", request, (silence: Error | null, answer: WorkerAttached | Refused) => {
      if (silence) done({ error: silence })
      else if (isRefused(answer)) done({ error: fromErrorBody(answer.error) ?? new Error("The terminal was refused.") })
      else done({ attached: answer })
    })
}
export async function sendInput(request: WhichWorker & { data: string | Uint8Array }): Promise<void> {
  const answer = await connection().timeout(ATTACH_TIMEOUT_MS).emitWithAck("worker.input", request)
  if (isRefused(answer)) throw fromErrorBody(answer.error) ?? new Error("The terminal did not take it.")
}
export const sendSize = (request: WhichWorker & { cols: number; rows: number }) => void connection().emit("worker.resize", request)
export const sendDrawn = (request: WhichWorker & { offset: number }) => void connection().emit("worker.ack", request)

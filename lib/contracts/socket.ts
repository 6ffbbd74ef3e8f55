import type { z } from "zod"
import type { ErrorBody } from "./errors"
import type { EventKind, SessionEvent } from "./events"
import type { RestoreProgress } from "./restore"
import type { SocketRequest, socketRequests } from "./socket-requests"
import type { SessionStatusReport } from "./status"
import type { WorkerAttached, WorkerExit, WorkerOutput, WorkerRedraw } from "./workers"

export type PushName =
  | "session.agentctl_starting"
  | "session.agentctl_ready"
  | "session.agentctl_error"
  | "session.state_changed"
  | "session.message.added"
  | "session.message.updated"
  | "session.event"

const names: Partial<Record<EventKind, PushName>> = {
  "executor.starting": "session.agentctl_starting",
  "executor.ready": "session.agentctl_ready",
  "executor.error": "session.agentctl_error",
  "session.state_changed": "session.state_changed",
  "status.derived": "session.state_changed",
  "message.user": "session.message.added",
  "message.agent": "session.message.added",
  "message.thought": "session.message.added",
  "tool.call": "session.message.added",
  "message.delta": "session.message.updated",
  "tool.update": "session.message.updated",
}
/** Each event travels once, under one name. */
export const pushNameOf = (kind: EventKind): PushName => names[kind] ?? "session.event"
export const PUSH_NAMES: readonly PushName[] = [...new Set(Object.values(names)), "session.event"]

export type PushedEvent = SessionEvent & { task_id: number }
export type Refused = { error: ErrorBody }
export type Ack<T> = (answer: T | Refused) => void

export type ServerToClientEvents = Record<PushName, (event: PushedEvent) => void> & {
  /** The viewer's own task list changed: fetch this task again. Carries no content, so it needs no cursor. */
  "task.changed": (change: { task_id: number }) => void
  /** How far a restore is. No fact of the journal: whoever misses one sees the next. */
  "session.restore_progress": (progress: RestoreProgress) => void
  /** Something in the workspace changed: ask again for what is shown of it. */
  "workspace.changed": (change: { session_id: string }) => void
  /** The server cannot use its database or its disk. Said again until it can; `/api/ready` tells when that is. */
  "server.trouble": (error: ErrorBody) => void
  "worker.output": (output: WorkerOutput) => void
  "worker.redraw": (redraw: WorkerRedraw) => void
  "worker.exit": (exit: WorkerExit) => void
}

/** What some requests are answered; the others are only acknowledged. */
type Answers = {
  "session.subscribe": { head_seq: number; generation: string }
  "task.session.status": SessionStatusReport
  "task.session.resume": { session_id: string; resume_strategy: string; already_running: boolean }
  "worker.attach": WorkerAttached
}
type Given<N extends SocketRequest> = z.input<(typeof socketRequests)[N]["request"]>

export type ClientToServerEvents = {
  [N in SocketRequest]: N extends keyof Answers
    ? (request: Given<N>, ack: Ack<Answers[N]>) => void
    : (request: Given<N>, ack?: Ack<object>) => void
}

import { z } from "zod"
import type { Access } from "./api/call"
import type { ErrorBody } from "./errors"
import type { EventKind, SessionEvent } from "./events"
import type { Scope } from "./people"
import type { RestoreProgress } from "./restore"
import type { SessionStatusReport } from "./status"
import {
  AckWorker,
  AttachWorker,
  DetachWorker,
  ResizeWorker,
  type WorkerAttached,
  type WorkerExit,
  WorkerInput,
  type WorkerOutput,
  type WorkerRedraw,
} from "./workers"

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
  "worker.output": (output: WorkerOutput) => void
  "worker.redraw": (redraw: WorkerRedraw) => void
  "worker.exit": (exit: WorkerExit) => void
}

type WhichWorker = { session_id: string; worker_id: string }

export type ClientToServerEvents = {
  "session.subscribe": (
    request: { session_id: string; after_seq: number; generation?: string },
    ack: Ack<{ head_seq: number; generation: string }>,
  ) => void
  "session.unsubscribe": (request: { session_id: string }, ack?: Ack<object>) => void
  "task.session.status": (request: { session_id: string }, ack: Ack<SessionStatusReport>) => void
  "task.session.resume": (
    request: { session_id: string; fresh?: boolean },
    ack: Ack<{ session_id: string; resume_strategy: string; already_running: boolean }>,
  ) => void
  "workspace.watch": (request: { session_id: string }, ack?: Ack<object>) => void
  "workspace.unwatch": (request: { session_id: string }, ack?: Ack<object>) => void
  "worker.attach": (request: AttachWorker, ack: Ack<WorkerAttached>) => void
  "worker.input": (request: WhichWorker & { data: string | Uint8Array }, ack?: Ack<object>) => void
  "worker.resize": (request: WhichWorker & { cols: number; rows: number }, ack?: Ack<object>) => void
  "worker.ack": (request: WhichWorker & { offset: number }) => void
  "worker.detach": (request: WhichWorker, ack?: Ack<object>) => void
}

const OfSession = z.object({ session_id: z.string() })

/** Every request a socket may make: who may, what a token needs for it, and its shape. The gateway answers nothing that is not here. */
export const socketRequests = {
  "session.subscribe": {
    access: "user",
    scope: "read",
    request: OfSession.extend({ after_seq: z.number().int().min(0), generation: z.string().optional() }),
  },
  "session.unsubscribe": { access: "user", scope: "read", request: OfSession },
  "task.session.status": { access: "user", scope: "read", request: OfSession },
  "task.session.resume": { access: "runner", scope: "write", request: OfSession.extend({ fresh: z.boolean().optional() }) },
  "workspace.watch": { access: "user", scope: "read", request: OfSession },
  "workspace.unwatch": { access: "user", scope: "read", request: OfSession },
  "worker.attach": { access: "runner", scope: "write", request: AttachWorker },
  "worker.input": { access: "runner", scope: "write", request: WorkerInput },
  "worker.resize": { access: "runner", scope: "write", request: ResizeWorker },
  "worker.ack": { access: "user", scope: "read", request: AckWorker },
  "worker.detach": { access: "user", scope: "read", request: DetachWorker },
} satisfies Record<keyof ClientToServerEvents, { access: Access; scope: Scope; request: z.ZodType }>

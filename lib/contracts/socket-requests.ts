import { z } from "zod"
import type { Access } from "./api/call"
import type { Scope } from "./people"
import { AckWorker, AttachWorker, DetachWorker, ResizeWorker, WorkerInput } from "./workers"

const OfSession = z.object({ session_id: z.string() })

/**
 * Every request a socket may make: who may, what a token needs for it, and its shape. The gateway answers nothing that is not here.
 * Apart from the rest of the socket's contract, so that a page need not load the validator.
 */
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
} satisfies Record<string, { access: Access; scope: Scope; request: z.ZodType }>

export type SocketRequest = keyof typeof socketRequests

import { z } from "zod"
import { PatchSetup, SessionSetup } from "../agent-setup"
import { SessionEvent } from "../events"
import { Sha256 } from "../ids"
import { SessionStatusReport } from "../status"
import { EventsQuery, PatchPrompt, QueuedPrompt, SessionView } from "../task"
import { ImportQuery, ImportResult } from "../transfer"
import { Outcome } from "../waits"
import { CreateWorker, HistoryQuery, PatchWorker, RestartWorker, WorkerDetail, WorkerView } from "../workers"
import type { Call } from "./call"

export const OfSession = z.object({ sessionId: z.string() })
const OfWorker = OfSession.extend({ workerId: z.string() })
const OfPrompt = OfSession.extend({ promptId: z.string() })
const Session = z.object({ session_id: z.string() })
const Queue = z.object({ prompts: z.array(QueuedPrompt) })
const OneWorker = z.object({ worker: WorkerView })

export const Resume = z.object({
  /** Start without memory. */
  fresh: z.boolean().optional(),
  /** Undo a fresh start, or try a retired agent session again. */
  reinstate: z.boolean().optional(),
  /** Sign the agent in this way, then start it. */
  sign_in: z.string().optional(),
  resume_token_id: z.string().optional(),
  secret: z.string().optional(),
})
export const Resumed = Session.extend({ resume_strategy: z.string(), already_running: z.boolean() })

export const sessionCalls = {
  "GET /api/v1/sessions/{sessionId}": { summary: "Get a session", access: "user", params: OfSession, status: 200, answer: SessionView },
  "GET /api/v1/sessions/{sessionId}/status": {
    summary: "Get whether a session runs, and how it would resume",
    access: "user",
    params: OfSession,
    status: 200,
    answer: SessionStatusReport,
  },
  "GET /api/v1/sessions/{sessionId}/events": {
    summary: "Get a page of the log",
    access: "user",
    params: OfSession,
    query: EventsQuery,
    status: 200,
    answer: z.object({ events: z.array(SessionEvent), more: z.boolean(), head_seq: z.number(), generation: z.string() }),
    errors: ["CURSOR_AHEAD"],
  },
  "POST /api/v1/sessions/{sessionId}/resume": {
    summary: "Resume the agent",
    access: "runner",
    params: OfSession,
    body: Resume,
    status: 202,
    answer: Resumed,
    errors: ["SESSION_TERMINAL", "SESSION_NOT_RESUMABLE", "RESUME_TOKEN_REJECTED", "TASK_EXPIRED_RESTORABLE", "CONFLICT"],
  },
  "GET /api/v1/sessions/{sessionId}/setup": {
    summary: "Get the agent's options, commands, usage and sign-in",
    access: "user",
    params: OfSession,
    status: 200,
    answer: SessionSetup,
  },
  "PATCH /api/v1/sessions/{sessionId}/setup": {
    summary: "Choose options; an agent that is not running gets them when it is started",
    access: "runner",
    params: OfSession,
    body: PatchSetup,
    status: 202,
    answer: SessionSetup,
    errors: ["CONFLICT"],
  },
  "POST /api/v1/sessions/{sessionId}/cancel": {
    summary: "Cancel the turn",
    access: "user",
    params: OfSession,
    status: 202,
    answer: Session.extend({ cancelling: z.boolean() }),
  },
  "POST /api/v1/sessions/{sessionId}/stop": {
    summary: "Stop the agent; everything else stays",
    access: "user",
    params: OfSession,
    status: 202,
    answer: Session,
    errors: ["CONFLICT"],
  },
  "POST /api/v1/sessions/{sessionId}/abandon": {
    summary: "Give up an executor that does not answer; its run is marked interrupted",
    access: "user",
    params: OfSession,
    status: 202,
    answer: Session,
    errors: ["SESSION_TERMINAL", "CONFLICT"],
  },
  "POST /api/v1/sessions/{sessionId}/waits/{tokenId}": {
    summary: "Answer a permission request or question",
    access: "runner",
    params: OfSession.extend({ tokenId: z.string() }),
    body: z.object({ secret: z.string(), outcome: Outcome }),
    status: 202,
    answer: Session.extend({ token_id: z.string() }),
    errors: ["RESUME_TOKEN_REJECTED"],
  },
  "GET /api/v1/sessions/{sessionId}/queue": {
    summary: "List the messages that wait",
    access: "user",
    params: OfSession,
    status: 200,
    answer: Queue,
  },
  "PATCH /api/v1/sessions/{sessionId}/queue/{promptId}": {
    summary: "Edit, reorder or release a message that waits",
    access: "runner",
    params: OfPrompt,
    body: PatchPrompt,
    status: 200,
    answer: Queue,
    errors: ["PROMPT_NOT_QUEUED"],
  },
  "DELETE /api/v1/sessions/{sessionId}/queue/{promptId}": {
    summary: "Withdraw a message that waits",
    access: "user",
    params: OfPrompt,
    status: 204,
    errors: ["PROMPT_NOT_QUEUED"],
  },
  "GET /api/v1/sessions/{sessionId}/export": {
    summary: "Export the session as a tar of its snapshot, log and tokens",
    access: "user",
    params: OfSession,
    status: 200,
    answer: "bytes",
    limit: "heavy",
    audit: "session.exported",
  },
  "POST /api/v1/sessions/import": {
    summary: "Import a session from its exported files (the tar as body)",
    access: "runner",
    query: ImportQuery,
    upload: "application/x-tar",
    status: 201,
    answer: ImportResult,
    errors: ["CONFLICT", "IMPORT_TOO_LARGE"],
    limit: "heavy",
    audit: "session.imported",
  },
  "GET /api/v1/sessions/{sessionId}/rejected/{sha256}": {
    summary: "Download what the agent said that was too large for the log",
    access: "user",
    params: OfSession.extend({ sha256: Sha256 }),
    status: 200,
    answer: "bytes",
    errors: ["EXECUTOR_UNREACHABLE"],
  },
  "GET /api/v1/sessions/{sessionId}/workers": {
    summary: "List the session's tabs: terminals, terminal agents, changes",
    access: "user",
    params: OfSession,
    status: 200,
    answer: z.object({ workers: z.array(WorkerView) }),
  },
  "POST /api/v1/sessions/{sessionId}/workers": {
    summary: "Open a tab; its process starts when somebody attaches",
    access: "runner",
    params: OfSession,
    body: CreateWorker,
    status: 201,
    answer: OneWorker,
    errors: ["WORKER_LIMIT", "AGENT_UNAVAILABLE", "CONFLICT"],
  },
  "GET /api/v1/sessions/{sessionId}/workers/{workerId}": {
    summary: "Get a tab, and what runs in it now",
    access: "user",
    params: OfWorker,
    status: 200,
    answer: WorkerDetail,
    errors: ["EXECUTOR_UNREACHABLE"],
  },
  "PATCH /api/v1/sessions/{sessionId}/workers/{workerId}": {
    summary: "Rename or move a tab",
    access: "user",
    params: OfWorker,
    body: PatchWorker,
    status: 200,
    answer: OneWorker,
  },
  "DELETE /api/v1/sessions/{sessionId}/workers/{workerId}": {
    summary: "Close a tab; ends everything it started",
    access: "user",
    params: OfWorker,
    status: 204,
  },
  "POST /api/v1/sessions/{sessionId}/workers/{workerId}/restart": {
    summary: "End its process and start another; an agent continues or begins anew",
    access: "runner",
    params: OfWorker,
    body: RestartWorker,
    status: 202,
    answer: OneWorker,
    errors: ["EXECUTOR_UNREACHABLE"],
  },
  "GET /api/v1/sessions/{sessionId}/workers/{workerId}/history": {
    summary: "Get earlier output of a terminal, as bytes",
    access: "user",
    params: OfWorker,
    query: HistoryQuery,
    status: 200,
    answer: "bytes",
    errors: ["EXECUTOR_UNREACHABLE"],
  },
} satisfies Record<string, Call>

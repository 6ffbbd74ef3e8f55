import { z } from "zod"
import { AdminAct, AdminArchives, AdminExecutor, AdminSessions, AdminSessionsQuery, ArchiveRun, Recovery } from "../../lib/contracts/admin"
import { PatchSetup, SessionSetup } from "../../lib/contracts/agent-setup"
import { UploadQuery, UploadResult } from "../../lib/contracts/attachments"
import { SessionEvent } from "../../lib/contracts/events"
import { RestorePreview, RestoreResult, RestoreTask, RestoreWhich } from "../../lib/contracts/restore"
import { SessionStatusReport } from "../../lib/contracts/status"
import {
  AppendMessage,
  AppendResult,
  CreateSession,
  CreateTask,
  EventsQuery,
  ListQuery,
  Me,
  PatchPrompt,
  PatchTask,
  QueuedPrompt,
  SessionView,
  TaskView,
} from "../../lib/contracts/task"
import { ImportQuery, ImportResult } from "../../lib/contracts/transfer"
import { Outcome } from "../../lib/contracts/waits"
import { CreateWorker, HistoryQuery, PatchWorker, RestartWorker, WorkerDetail, WorkerView } from "../../lib/contracts/workers"
import { agentCalls } from "./openapi-agents"
import { workspaceCalls } from "./openapi-workspace"

export type Call = {
  method: string
  path: string
  summary: string
  query?: z.ZodType
  body?: z.ZodType
  status: number
  answer?: z.ZodType
}

const items = (schema: z.ZodType) => z.object({ items: z.array(schema) })
const OfSession = z.object({ session_id: z.string() })
const Queue = z.object({ prompts: z.array(QueuedPrompt) })
const Resumed = OfSession.extend({ resume_strategy: z.string(), already_running: z.boolean() })
const OneWorker = z.object({ worker: WorkerView })
const Token = z.object({ id: z.string(), name: z.string(), created_at: z.string(), last_used_at: z.string().nullable() })

/** Every call of the API. A test holds it against the routes there are. */
export const calls: Call[] = [
  {
    method: "get",
    path: "/tasks",
    summary: "The caller's tasks, newest activity first",
    query: ListQuery,
    status: 200,
    answer: items(TaskView),
  },
  {
    method: "post",
    path: "/tasks",
    summary: "Create a task with its first message",
    body: CreateTask,
    status: 201,
    answer: z.object({ task: TaskView, session: SessionView }),
  },
  { method: "get", path: "/tasks/{taskId}", summary: "One task", status: 200, answer: TaskView },
  {
    method: "patch",
    path: "/tasks/{taskId}",
    summary: "Rename, hide, show, complete, reopen",
    body: PatchTask,
    status: 200,
    answer: TaskView,
  },
  { method: "delete", path: "/tasks/{taskId}", summary: "Delete a task, its agents and workspaces", status: 204 },
  {
    method: "post",
    path: "/tasks/{taskId}/append",
    summary: "Accept a message; it is delivered in its turn",
    body: AppendMessage,
    status: 202,
    answer: AppendResult,
  },
  {
    method: "post",
    path: "/attachments",
    summary: "Upload a picture or file (its bytes as body) for a message to take along; unsent it is kept for a day",
    query: UploadQuery,
    status: 201,
    answer: UploadResult,
  },
  { method: "get", path: "/attachments/{attachmentId}", summary: "The bytes of one's own attachment", status: 200 },
  {
    method: "get",
    path: "/tasks/{taskId}/restore",
    summary: "What a restore would bring back, and how far one under way is",
    query: RestoreWhich,
    status: 200,
    answer: RestorePreview,
  },
  {
    method: "post",
    path: "/tasks/{taskId}/restore",
    summary: "Bring an expired task back, with the message that was waiting",
    body: RestoreTask,
    status: 200,
    answer: RestoreResult,
  },
  {
    method: "post",
    path: "/tasks/{taskId}/sessions",
    summary: "A further session of the task",
    body: CreateSession,
    status: 201,
    answer: SessionView,
  },
  { method: "get", path: "/sessions/{sessionId}", summary: "One session", status: 200, answer: SessionView },
  {
    method: "get",
    path: "/sessions/{sessionId}/status",
    summary: "Whether and how it runs, and comes back",
    status: 200,
    answer: SessionStatusReport,
  },
  {
    method: "get",
    path: "/sessions/{sessionId}/events",
    summary: "Pages of the log",
    query: EventsQuery,
    status: 200,
    answer: z.object({ events: z.array(SessionEvent), more: z.boolean(), head_seq: z.number(), generation: z.string() }),
  },
  {
    method: "post",
    path: "/sessions/{sessionId}/resume",
    summary: "Bring the agent up again",
    body: z.object({
      fresh: z.boolean().optional(),
      reinstate: z.boolean().optional(),
      sign_in: z.string().optional(),
      resume_token_id: z.string().optional(),
      secret: z.string().optional(),
    }),
    status: 202,
    answer: Resumed,
  },
  {
    method: "get",
    path: "/sessions/{sessionId}/setup",
    summary: "What can be set about the agent, its commands and usage, and how it is signed in",
    status: 200,
    answer: SessionSetup,
  },
  {
    method: "patch",
    path: "/sessions/{sessionId}/setup",
    summary: "Choose options; a sleeping agent is given them when it is started",
    body: PatchSetup,
    status: 202,
    answer: SessionSetup,
  },
  {
    method: "post",
    path: "/sessions/{sessionId}/cancel",
    summary: "Interrupt the turn",
    status: 202,
    answer: OfSession.extend({ cancelling: z.boolean() }),
  },
  { method: "post", path: "/sessions/{sessionId}/stop", summary: "End the agent; everything else stays", status: 202, answer: OfSession },
  {
    method: "post",
    path: "/sessions/{sessionId}/abandon",
    summary: "Give up an executor that does not answer; its run is marked interrupted",
    status: 202,
    answer: OfSession,
  },
  {
    method: "post",
    path: "/sessions/{sessionId}/waits/{tokenId}",
    summary: "Answer a permission or question",
    body: z.object({ secret: z.string(), outcome: Outcome }),
    status: 202,
    answer: OfSession.extend({ token_id: z.string() }),
  },
  { method: "get", path: "/sessions/{sessionId}/queue", summary: "Messages that wait", status: 200, answer: Queue },
  {
    method: "patch",
    path: "/sessions/{sessionId}/queue/{promptId}",
    summary: "Edit or reorder",
    body: PatchPrompt,
    status: 200,
    answer: Queue,
  },
  { method: "delete", path: "/sessions/{sessionId}/queue/{promptId}", summary: "Withdraw", status: 204 },
  {
    method: "get",
    path: "/sessions/{sessionId}/export",
    summary: "The session as files: a tar of its snapshot, log and tokens",
    status: 200,
  },
  {
    method: "post",
    path: "/sessions/import",
    summary: "Take a session over from its exported files (the tar as body)",
    query: ImportQuery,
    status: 201,
    answer: ImportResult,
  },
  {
    method: "get",
    path: "/sessions/{sessionId}/workers",
    summary: "The session's tabs: terminals, terminal agents, changes",
    status: 200,
    answer: z.object({ workers: z.array(WorkerView) }),
  },
  {
    method: "post",
    path: "/sessions/{sessionId}/workers",
    summary: "Open a tab; its process starts when somebody attaches",
    body: CreateWorker,
    status: 201,
    answer: OneWorker,
  },
  {
    method: "get",
    path: "/sessions/{sessionId}/workers/{workerId}",
    summary: "One tab, and what runs in it now",
    status: 200,
    answer: WorkerDetail,
  },
  {
    method: "patch",
    path: "/sessions/{sessionId}/workers/{workerId}",
    summary: "Rename or move a tab",
    body: PatchWorker,
    status: 200,
    answer: OneWorker,
  },
  { method: "delete", path: "/sessions/{sessionId}/workers/{workerId}", summary: "Close a tab; ends everything it started", status: 204 },
  {
    method: "post",
    path: "/sessions/{sessionId}/workers/{workerId}/restart",
    summary: "End its process and start another; an agent goes on or begins anew",
    body: RestartWorker,
    status: 202,
    answer: OneWorker,
  },
  {
    method: "get",
    path: "/sessions/{sessionId}/workers/{workerId}/history",
    summary: "Earlier output of a terminal, as bytes",
    query: HistoryQuery,
    status: 200,
  },
  ...workspaceCalls,
  ...agentCalls,
  {
    method: "get",
    path: "/workspaces",
    summary: "Repositories under the allowed roots",
    query: z.object({ q: z.string().optional() }),
    status: 200,
    answer: z.object({ roots: z.array(z.string()), items: z.array(z.object({ path: z.string(), name: z.string() })) }),
  },
  { method: "get", path: "/me", summary: "The caller", status: 200, answer: Me },
  {
    method: "post",
    path: "/me/password",
    summary: "Change the password; ends every other sign-in",
    body: z.object({ current_password: z.string(), new_password: z.string() }),
    status: 204,
  },
  { method: "get", path: "/tokens", summary: "API tokens", status: 200, answer: items(Token) },
  {
    method: "post",
    path: "/tokens",
    summary: "Make an API token; it is shown once",
    body: z.object({ name: z.string() }),
    status: 201,
    answer: Token.omit({ last_used_at: true }).extend({ token: z.string() }),
  },
  { method: "delete", path: "/tokens", summary: "Revoke an API token", query: z.object({ id: z.string() }), status: 204 },
  { method: "get", path: "/admin/users", summary: "People", status: 200 },
  {
    method: "patch",
    path: "/admin/users",
    summary: "Change a role, disable, enable",
    body: z.object({ id: z.string(), role: z.string().optional(), disabled: z.boolean().optional() }),
    status: 204,
  },
  {
    method: "post",
    path: "/admin/invitations",
    summary: "Invite somebody",
    body: z.object({ email: z.string(), role: z.string() }),
    status: 201,
    answer: z.object({ link: z.string() }),
  },
  { method: "get", path: "/admin/sessions", summary: "Every session", query: AdminSessionsQuery, status: 200, answer: AdminSessions },
  { method: "post", path: "/admin/sessions", summary: "Resume or stop a session", body: AdminAct, status: 202, answer: OfSession },
  { method: "get", path: "/admin/recoveries", summary: "What each boot found and did", status: 200, answer: items(Recovery) },
  { method: "get", path: "/admin/archives", summary: "Archives, and what is due to be archived", status: 200, answer: AdminArchives },
  { method: "post", path: "/admin/archives/run", summary: "Archive expired executors now", status: 202, answer: ArchiveRun },
  { method: "get", path: "/admin/executors", summary: "Executors", status: 200, answer: items(AdminExecutor) },
  {
    method: "post",
    path: "/setup",
    summary: "Create the first admin by the one-time code",
    body: z.object({ code: z.string(), email: z.string(), name: z.string().optional(), password: z.string() }),
    status: 201,
  },
  {
    method: "post",
    path: "/invitations/accept",
    summary: "Accept an invitation",
    body: z.object({ code: z.string(), name: z.string().optional(), password: z.string() }),
    status: 201,
  },
  { method: "get", path: "/openapi.json", summary: "This document", status: 200 },
]

const schemaOf = (schema: z.ZodType) => z.toJSONSchema(schema, { unrepresentable: "any", io: "input" })
const content = (schema: z.ZodType) => ({ content: { "application/json": { schema: schemaOf(schema) } } })
const Failure = z.object({ code: z.string(), message: z.string() })

export function openApiDocument(publicUrl: string) {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const call of calls) {
    const inPath = [...call.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
      name,
      in: "path",
      required: true,
      schema: { type: "string" },
    }))
    const properties = call.query ? (schemaOf(call.query).properties ?? {}) : {}
    const inQuery = Object.entries(properties).map(([name, schema]) => ({ name, in: "query", schema }))
    paths[call.path] = {
      ...paths[call.path],
      [call.method]: {
        summary: call.summary,
        parameters: [...inPath, ...inQuery],
        ...(call.body ? { requestBody: { required: true, ...content(call.body) } } : {}),
        responses: {
          [call.status]: { description: call.summary, ...(call.answer ? content(call.answer) : {}) },
          default: { description: "What went wrong, with its code", ...content(Failure) },
        },
      },
    }
  }
  return {
    openapi: "3.1.0",
    info: { title: "Rewake", version: "1" },
    servers: [{ url: `${publicUrl}/api/v1` }],
    security: [{ bearer: [] }],
    components: { securitySchemes: { bearer: { type: "http", scheme: "bearer" } } },
    paths,
  }
}

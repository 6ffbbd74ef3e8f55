import { z } from "zod"
import { UploadQuery, UploadResult } from "../attachments"
import { RestorePreview, RestoreResult, RestoreTask, RestoreWhich } from "../restore"
import { AppendMessage, AppendResult, CreateSession, CreateTask, ListQuery, PatchTask, SessionView, TaskView } from "../task"
import type { Call } from "./call"

const OfTask = z.object({ taskId: z.coerce.number() })

export const taskCalls = {
  "GET /api/v1/tasks": {
    summary: "List your tasks, newest activity first",
    access: "user",
    query: ListQuery,
    status: 200,
    answer: z.object({ items: z.array(TaskView), next_cursor: z.string().nullable() }),
  },
  "POST /api/v1/tasks": {
    summary: "Create a task with its first message",
    access: "runner",
    body: CreateTask,
    status: 201,
    answer: z.object({ task: TaskView, session: SessionView }),
    errors: ["WORKSPACE_NOT_FOUND", "WORKSPACE_NOT_ALLOWED", "AGENT_UNAVAILABLE", "CONFLICT"],
  },
  "GET /api/v1/tasks/{taskId}": { summary: "Get a task", access: "user", params: OfTask, status: 200, answer: TaskView },
  "PATCH /api/v1/tasks/{taskId}": {
    summary: "Rename, hide, show, complete or reopen a task",
    access: "user",
    params: OfTask,
    body: PatchTask,
    status: 200,
    answer: TaskView,
  },
  "DELETE /api/v1/tasks/{taskId}": {
    summary: "Delete a task, its agents and workspaces",
    access: "user",
    params: OfTask,
    status: 204,
  },
  "POST /api/v1/tasks/{taskId}/append": {
    summary: "Accept a message; it is delivered in its turn",
    access: "runner",
    params: OfTask,
    body: AppendMessage,
    status: 202,
    answer: AppendResult,
    errors: ["TASK_EXPIRED_RESTORABLE", "SESSION_NOT_RESUMABLE", "SESSION_TERMINAL", "IDEMPOTENCY_CONFLICT", "QUEUE_FULL", "CONFLICT"],
  },
  "GET /api/v1/tasks/{taskId}/restore": {
    summary: "Show what a restore would bring back, and the progress of one under way",
    access: "user",
    params: OfTask,
    query: RestoreWhich,
    status: 200,
    answer: RestorePreview,
  },
  "POST /api/v1/tasks/{taskId}/restore": {
    summary: "Restore an expired task, with the message that was waiting",
    access: "runner",
    params: OfTask,
    body: RestoreTask,
    status: 200,
    answer: RestoreResult,
    errors: ["TASK_NOT_RESTORABLE", "SESSION_NOT_RESUMABLE", "IDEMPOTENCY_CONFLICT"],
  },
  "POST /api/v1/tasks/{taskId}/sessions": {
    summary: "Create a further session of the task",
    access: "runner",
    params: OfTask,
    body: CreateSession,
    status: 201,
    answer: SessionView,
    errors: ["AGENT_UNAVAILABLE"],
  },
  "POST /api/v1/attachments": {
    summary: "Upload a picture or file for a message to take along; unsent it is kept for a day",
    access: "user",
    query: UploadQuery,
    upload: "application/octet-stream",
    status: 201,
    answer: UploadResult,
    limit: "heavy",
  },
  "GET /api/v1/attachments/{attachmentId}": {
    summary: "Download one of your attachments",
    access: "user",
    params: z.object({ attachmentId: z.string() }),
    status: 200,
    answer: "bytes",
  },
} satisfies Record<string, Call>

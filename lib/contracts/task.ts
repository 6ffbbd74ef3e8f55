import { z } from "zod"
import { Attachment, AttachmentIds, requireContent } from "./attachments"
import { ExecutorStatus, SessionState, SessionStatus, SurvivalLevel, TaskState } from "./status"
import { Wait } from "./waits"

/** A built-in agent's name, or one that an admin has given; it becomes part of a path. */
export const AgentId = z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/, "must be small letters, digits and dashes")
export type AgentId = z.infer<typeof AgentId>
export const Runtime = z.enum(["standalone", "docker", "remote"])
export type Runtime = z.infer<typeof Runtime>
export const TaskType = z.enum(["chat", "code"])
export type TaskType = z.infer<typeof TaskType>

/** Its place among the sessions that wait for an agent to end, since as many run as may. */
export const StartPlace = z.object({ position: z.number().int(), waiting: z.number().int() })
export type StartPlace = z.infer<typeof StartPlace>

export const SessionView = z.object({
  id: z.string(),
  task_id: z.number().int(),
  agent: AgentId,
  runtime: Runtime,
  state: SessionState,
  status: SessionStatus,
  executor_status: ExecutorStatus,
  on_other_server: z.boolean(),
  start_place: StartPlace.nullable(),
  survival_level: SurvivalLevel,
  worktree_branch: z.string().nullable(),
  last_seq: z.number().int(),
  waits: z.array(Wait),
  created_at: z.string(),
  updated_at: z.string(),
})
export type SessionView = z.infer<typeof SessionView>

export const TaskView = z.object({
  id: z.number().int(),
  type: TaskType,
  title: z.string(),
  state: TaskState,
  agent: AgentId,
  repository: z.string().nullable(),
  created_at: z.string(),
  updated_at: z.string(),
  last_activity_at: z.string(),
  expires_at: z.string().nullable(),
  hidden_at: z.string().nullable(),
  sessions: z.array(SessionView),
})
export type TaskView = z.infer<typeof TaskView>

/** May be empty where something is attached. */
const messageAndAttachments = { message: z.string(), attachments: AttachmentIds.optional() }

export const CreateTask = z
  .object({
    type: TaskType.default("chat"),
    ...messageAndAttachments,
    agent: AgentId.default("demo"),
    runtime: Runtime.default("standalone"),
    title: z.string().trim().min(1).max(200).optional(),
    /** A local repository under the allowed roots, or a git URL. Required for code tasks. */
    repository: z.string().trim().min(1).max(4096).optional(),
  })
  .superRefine(requireContent)
export type CreateTask = z.infer<typeof CreateTask>

export const PatchTask = z.object({
  title: z.string().trim().min(1).max(200).optional(),
  hidden: z.boolean().optional(),
  state: z.enum(["IN_PROGRESS", "REVIEW", "COMPLETED", "CANCELLED"]).optional(),
})
/** Printable, because a database key cannot hold a NUL. */
export const ClientMessageId = z
  .string()
  .min(1)
  .max(200)
  .regex(/^\P{Cc}*$/u, "must not contain control characters")
export const AppendMessage = z
  .object({
    ...messageAndAttachments,
    session_id: z.string().optional(),
    client_message_id: ClientMessageId.optional(),
  })
  .superRefine(requireContent)
export const AppendResult = z.object({
  task_id: z.number().int(),
  session_id: z.string(),
  message_id: z.string(),
  prompt_id: z.string(),
  queue_position: z.number().int(),
})
export type AppendResult = z.infer<typeof AppendResult>

export const CreateSession = z.object({ agent: AgentId.optional(), runtime: Runtime.optional(), from_session_id: z.string().optional() })
export const PatchPrompt = z.object({
  /** May be empty where something is attached, which stays as it is. */
  message: z.string().optional(),
  position: z.number().int().min(0).optional(),
  /** Releases a message that was held after an import or a restored backup. */
  held: z.literal(false).optional(),
})
export const QueuedPrompt = z.object({
  prompt_id: z.string(),
  message: z.string(),
  attachments: z.array(Attachment).optional(),
  position: z.number().int(),
  /** Not sent until a person says so. */
  held: z.boolean(),
})
export type QueuedPrompt = z.infer<typeof QueuedPrompt>
export const ListQuery = z.object({
  cursor: z.string().optional(),
  limit: z.coerce.number().int().min(1).max(200).default(50),
  q: z.string().max(200).optional(),
  hidden: z.enum(["true", "false"]).optional(),
})
export const EventsQuery = z.object({
  after: z.coerce.number().int().min(0).optional(),
  /** Pages backwards from here, newest page first, for a browser that opens a long session at its end. */
  before: z.coerce.number().int().min(1).optional(),
  limit: z.coerce.number().int().min(1).max(2000).default(500),
})

export const Role = z.enum(["user", "admin"])
export type Role = z.infer<typeof Role>
/** Whether this user may start or write anything in that runtime, and if not, why not. */
const RuntimeAccess = z.object({ allowed: z.boolean(), reason: z.string().nullable() })
export const Me = z.object({
  id: z.string(),
  email: z.string(),
  name: z.string(),
  role: Role,
  /** False for somebody who signs in at a provider only. */
  has_password: z.boolean(),
  runtimes: z.object({ standalone: RuntimeAccess }),
})
export type Me = z.infer<typeof Me>
export const Email = z.string().trim().toLowerCase().pipe(z.email())
export const Password = z.string().min(10, "must have at least 10 characters").max(256)

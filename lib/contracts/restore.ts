import { z } from "zod"
import { AttachmentIds, requireContent } from "./attachments"
import { LeftOut } from "./left-out"
import { ClientMessageId, TaskType } from "./task"

/** The session that is wanted back first, where a task has several; otherwise the newest that needs it. */
export const RestoreWhich = z.object({ session_id: z.string().optional() })
export const RestoreTask = RestoreWhich.extend({
  /** Accepted together with the restore, and delivered when the task is back. */
  message: z.string().optional(),
  /** Belong to the message; without one there is nothing they could go with. */
  attachments: AttachmentIds.optional(),
  client_message_id: ClientMessageId.optional(),
}).superRefine(requireContent)
export type RestoreTask = z.infer<typeof RestoreTask>

export const RestoreResult = z.object({
  success: z.boolean(),
  task_id: z.number().int(),
  task_type: TaskType,
  /** False: the executor was still there and was kept as it is. */
  executor_rebuilt: z.boolean(),
  message: z.string(),
})
export type RestoreResult = z.infer<typeof RestoreResult>

/** How far the files are: bytes of the archive while it is fetched, of its content afterwards. */
export const RestoreProgress = z.object({
  task_id: z.number().int(),
  session_id: z.string(),
  phase: z.enum(["downloading", "unpacking", "verifying"]),
  bytes: z.number(),
  total_bytes: z.number(),
  files: z.number().int(),
  total_files: z.number().int(),
})
export type RestoreProgress = z.infer<typeof RestoreProgress>

/** What a restore would bring back, shown before it is asked for. */
export const RestorePreview = z.object({
  task_id: z.number().int(),
  task_type: TaskType,
  session_id: z.string(),
  /** Null: the task has not expired; it can be written to as it is. */
  reason: z.enum(["expired", "executor_deleted"]).nullable(),
  expire_hours: z.number(),
  last_updated_at: z.string(),
  files: z.discriminatedUnion("kind", [
    /** The executor is still there. */
    z.object({ kind: z.literal("kept") }),
    z.object({
      kind: z.literal("archive"),
      created_at: z.string(),
      bytes: z.number(),
      files: z.number().int(),
      /** What it does not hold; null for an archive of an earlier version, which did not record it. */
      left_out: LeftOut.nullable(),
    }),
    z.object({ kind: z.literal("recreated"), branch: z.string() }),
    z.object({ kind: z.literal("lost") }),
  ]),
  memory: z.enum(["kept", "native", "injected", "none"]),
  /** A restore of this task is under way. */
  progress: RestoreProgress.nullable(),
})
export type RestorePreview = z.infer<typeof RestorePreview>

import { z } from "zod"
import { SessionStatusReport } from "./status"

/** Rows of the status pages; admins only. */
export const AdminSession = SessionStatusReport.extend({
  title: z.string(),
  owner: z.string(),
  last_seen_at: z.string().nullable(),
  updated_at: z.string(),
  error_message: z.string().nullable(),
})
export type AdminSession = z.infer<typeof AdminSession>

/** The filters above the table; each is answered by an index or a plain column. */
export const AdminFilter = z.enum(["all", "running", "waiting", "interrupted", "agent_gone", "executor_error"])
export type AdminFilter = z.infer<typeof AdminFilter>

export const AdminSessionsQuery = z.object({
  filter: AdminFilter.default("all"),
  q: z.string().max(200).optional(),
  cursor: z.string().optional(),
  limit: z.coerce.number().int().min(1).max(200).default(50),
})

export const AdminSessions = z.object({
  items: z.array(AdminSession),
  next_cursor: z.string().nullable(),
  counts: z.record(AdminFilter, z.number().int()),
})
export type AdminSessions = z.infer<typeof AdminSessions>

export const AdminAct = z.object({ session_id: z.string(), action: z.enum(["resume", "stop"]) })

export const RecoveryOutcome = z.object({
  session_id: z.string(),
  task_id: z.number().int().nullable(),
  title: z.string().nullable(),
  outcome: z.string(),
  took_ms: z.number(),
  error: z.string().optional(),
})
export const Recovery = z.object({
  boot_id: z.string(),
  hostname: z.string(),
  started_at: z.string(),
  finished_at: z.string().nullable(),
  /** Null while this boot's server still runs. */
  ended_at: z.string().nullable(),
  found: z.number().int(),
  adopted: z.number().int(),
  resumed: z.number().int(),
  interrupted: z.number().int(),
  failed: z.number().int(),
  took_ms: z.number().nullable(),
  /** What was found about the database itself. */
  note: z.string().nullable(),
  sessions: z.array(RecoveryOutcome),
})
export type Recovery = z.infer<typeof Recovery>

export const AdminExecutor = z.object({
  id: z.string(),
  session_id: z.string(),
  task_id: z.number().int(),
  runtime: z.string(),
  status: z.string(),
  agentctl_instance_id: z.string().nullable(),
  agent_execution_id: z.string().nullable(),
  workspace_path: z.string().nullable(),
  last_seen_at: z.string().nullable(),
  error_message: z.string().nullable(),
})

/** How many expired executors the round that was just begun will try to archive. */
export const ArchiveRun = z.object({ due: z.number().int() })
export type ArchiveRun = z.infer<typeof ArchiveRun>

/** What is kept, what is due to be archived, and what stands in the way. Nothing is deleted that this does not name first. */
export const AdminArchives = z.object({
  archives: z.array(
    z.object({
      id: z.string(),
      session_id: z.string(),
      task_id: z.number().int(),
      title: z.string(),
      owner: z.string(),
      state: z.enum(["ready", "failed"]),
      bytes: z.number().nullable(),
      files: z.number().int().nullable(),
      created_at: z.string(),
      error: z.string().nullable(),
    }),
  ),
  due: z.array(
    z.object({
      session_id: z.string(),
      task_id: z.number().int(),
      title: z.string(),
      owner: z.string(),
      expired_at: z.string(),
      /** Null: it goes in the next round. */
      blocked: z.string().nullable(),
      failures: z.number().int(),
      next_try_at: z.string().nullable(),
      last_error: z.string().nullable(),
    }),
  ),
  store: z.object({ kind: z.enum(["folder", "s3"]), location: z.string(), bytes: z.number(), count: z.number().int() }),
})
export type AdminArchives = z.infer<typeof AdminArchives>

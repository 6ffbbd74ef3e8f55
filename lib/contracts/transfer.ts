import { z } from "zod"
import { Interruption, SessionState, SessionStatus } from "./status"
import { AgentId, Runtime, TaskType } from "./task"
import { Time } from "./time"
import { Outcome, WaitKind } from "./waits"

/**
 * The three files of an exported session: `<session_id>.json` (this), `<session_id>.messages.jsonl` (the log, one event a line) and
 * `<session_id>.tokens.json`. The log is the truth; the other two let a reader start without it.
 */
export const SessionSnapshot = z.object({
  format: z.literal(1),
  id: z.string(),
  title: z.string(),
  working_dir: z.string().nullable(),
  provider: z.object({ type: z.string(), model: z.string().nullable() }),
  created_at: Time,
  updated_at: Time,
  last_seq: z.number().int(),
  run: z
    .object({
      run_id: z.string(),
      boot_id: z.string().nullable(),
      started_at: z.string().nullable(),
      ended_at: z.string().nullable(),
      wait: z
        .object({ kind: WaitKind, since_seq: z.number().int().nullable(), resume_token_id: z.string(), deadline_at: z.string() })
        .nullable(),
    })
    .nullable(),
  recovery: z.object({ last_boot_seen: z.string().nullable(), interruption: Interruption.nullable() }),
  status: SessionStatus,
  state: SessionState,
  runtime: Runtime,
  task: z.object({ type: TaskType, agent: AgentId, repository: z.string().nullable() }),
})
export type SessionSnapshot = z.infer<typeof SessionSnapshot>

/** Ids, hashes and what became of them; never a secret. */
export const ExportedToken = z.object({
  token_id: z.string(),
  run_id: z.string(),
  wait_kind: WaitKind,
  state: z.enum(["live", "consumed", "revoked", "expired"]),
  secret_sha256: z.string(),
  minted_at: z.string(),
  expires_at: z.string(),
  outcome: Outcome.nullable(),
})
export type ExportedToken = z.infer<typeof ExportedToken>
export const ExportedTokens = z.object({ tokens: z.array(ExportedToken) })

/** What a reader could not use as it stood; the rest was kept. `kept`: it is in the log, shown as it is, and nothing follows from it. */
export const SkippedRecord = z.object({
  file: z.string(),
  line: z.number().int().nullable(),
  reason: z.enum([
    "torn",
    "not_json",
    "oversized",
    "not_an_event",
    "seq_not_increasing",
    "seq_too_large",
    "too_deep",
    "unknown_kind",
    "malformed",
    "second_end",
    "missing",
  ]),
  kept: z.boolean(),
})
export type SkippedRecord = z.infer<typeof SkippedRecord>

export const ImportQuery = z.object({
  /** Needed only when the snapshot cannot be read. */
  agent: AgentId.optional(),
})
export const ImportResult = z.object({
  task_id: z.number().int(),
  session_id: z.string(),
  events: z.number().int(),
  /** Messages that wait for a person's word: they may have been delivered where the session came from. */
  held_prompts: z.number().int(),
  interrupted_run: z.string().nullable(),
  notes: z.array(z.string()),
  skipped: z.array(SkippedRecord),
  /** More may have been skipped than are listed. */
  skipped_count: z.number().int(),
})
export type ImportResult = z.infer<typeof ImportResult>

import type { Attachment } from "../../lib/contracts/attachments"
import type { SkippedRecord } from "../../lib/contracts/transfer"
import { readContent, sha256 } from "../attachments"
import { allRows, createReplay, parseRow, readRow, rejectedAt } from "../journal"
import type { Database } from "../platform/database"
import { readLog } from "./read-log"

/** What the rows of a session would have to be, by its log, and are not. */
export type Finding = { session_id: string; problem: string }

/** Columns the log does not decide: who acts, where it was last seen, how far a daemon was read. */
const FOLLOWS = {
  sessions: [
    "state",
    "open_run_id",
    "run_boot_id",
    "run_prompt_id",
    "run_first_seq",
    "open_waits",
    "cancel_requested",
    "interruption",
    "last_seq",
  ],
  prompts: ["state", "rank", "content", "attachments", "run_id"],
  resume_tokens: ["state", "outcome", "run_id"],
  workers: ["type", "name", "position", "agent", "conversation_id", "forked_from", "closed_at"],
  executors_running: ["status", "agent_execution_id", "resume_token", "context_pending", "worktree_path"],
} as const

/** Columns of JSON text; null is none. */
const JSON_COLUMNS: Partial<Record<keyof typeof FOLLOWS, readonly string[]>> = {
  sessions: ["interruption"],
  prompts: ["content", "attachments"],
  resume_tokens: ["outcome", "request"],
  executors_running: ["agent_setup", "agent_usage", "agent_options", "agent_sign_in"],
}

/** Reads one session's log from its start and compares what follows from it with the rows there are. Changes nothing. */
export async function examineSession(db: Database, sessionId: string): Promise<Finding[]> {
  const findings: Finding[] = []
  const find = (problem: string) => findings.push({ session_id: sessionId, problem })
  const session = await db.session.findUnique({ where: { id: sessionId } })
  const executor = await db.executorRunning.findUnique({ where: { session_id: sessionId } })
  if (!session || !executor) return [{ session_id: sessionId, problem: "its row, or its executor's, is missing" }]
  const { worktree_branch: _branch, ...born } = executor
  const replay = createReplay({
    session: { ...session, last_seq: 0, state: "CREATED", ...NO_RUN },
    executor: { ...born, status: "none", agent_execution_id: null, resume_token: null, context_pending: 0, worktree_path: null },
  })
  const attached: Attachment[] = []
  const head = await db.sessionEvent.aggregate({ where: { session_id: sessionId }, _max: { seq: true } })
  for await (const page of allRows(db, sessionId, head._max.seq ?? 0)) {
    for (const { seq, row } of page) {
      if (seq > session.last_seq) find(`event ${seq} lies beyond the head ${session.last_seq}`)
      const isReadable = row !== null && readRow(row).rejected === null
      const event = row ? parseRow(row) : rejectedAt({ session_id: sessionId, seq, ts: session.updated_at })
      if (!isReadable) find(`event ${seq} cannot be read`)
      else if (event.kind !== row.kind) find(`event ${seq} (${row.kind}) is of a version this build does not know`)
      replay.take(event)
      if (event.kind === "message.user") attached.push(...(event.attachments ?? []))
    }
  }
  for (const { seq, kind, table } of replay.surprises) find(`event ${seq} (${kind}) does not fit the ${table} before it`)
  for (const { id, name, sha256: hash } of attached) {
    const content = await readContent(db, sessionId, id)
    if (content === null) find(`attachment ${id} (${name}) is missing`)
    else if (sha256(content) !== hash) find(`attachment ${id} (${name}) is not what was attached`)
  }
  const rows = {
    sessions: [session],
    executors_running: [executor],
    prompts: await db.prompt.findMany({ where: { session_id: sessionId } }),
    resume_tokens: await db.resumeToken.findMany({ where: { session_id: sessionId } }),
    workers: await db.worker.findMany({ where: { session_id: sessionId } }),
  }
  for (const [table, columns] of Object.entries(JSON_COLUMNS)) {
    for (const row of rows[table as keyof typeof rows] as Record<string, unknown>[])
      for (const column of columns) if (!isJson(row[column])) find(`${table} ${row.id}: ${column} cannot be read`)
  }
  const replayed = replay.rows()
  for (const table of Object.keys(FOLLOWS) as (keyof typeof FOLLOWS)[]) {
    const expected = new Map(replayed[table].map((row) => [row.id, row]))
    for (const row of rows[table] as Record<string, unknown>[]) {
      const should = expected.get(row.id as string)
      if (!should) find(`${table} ${row.id} is not in the log`)
      for (const column of should ? FOLLOWS[table] : []) {
        if ((should?.[column] ?? null) !== row[column])
          find(`${table} ${row.id}: ${column} is ${JSON.stringify(row[column])}, by the log ${JSON.stringify(should?.[column] ?? null)}`)
      }
      expected.delete(row.id as string)
    }
    for (const id of expected.keys()) find(`${table} ${id} is in the log and has no row`)
  }
  return findings
}

function isJson(text: unknown): boolean {
  try {
    return text === null || JSON.parse(text as string) !== undefined
  } catch {
    return false
  }
}

const NO_RUN = {
  ...{ open_run_id: null, run_boot_id: null, run_prompt_id: null, run_first_seq: null },
  ...{ open_waits: 0, cancel_requested: 0, interruption: null },
}

/** Reads an exported log without a server and tells what a reader would have to leave out. */
export async function examineLog(source: AsyncIterable<Buffer>, sessionId: string, file: string) {
  const skipped: SkippedRecord[] = []
  const attachments: Attachment[] = []
  let events = 0
  for await (const { event } of readLog(source, sessionId, file, (record) => skipped.push(record))) {
    if (event) events += 1
    if (event?.kind === "message.user") attachments.push(...(event.attachments ?? []))
  }
  return { events, skipped, attachments }
}

import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { isDeepStrictEqual } from "node:util"
import Database from "better-sqlite3"
import { isActivity, type NewEvent } from "../../../lib/contracts/events"
import { type Change, insert, project, type Value } from "../../../server/journal"
import { applyBatch, type WriteRequest } from "../../../server/journal/apply-batch"
import { parseRow } from "../../../server/journal/journal"
import type { Finding, Rows, SessionEvidence } from "../evidence"

/** What does not follow from the log: who may act for it, how far a daemon was read, where it was last seen. */
const NOT_DERIVED: Record<"session" | "prompts" | "tokens" | "executor", readonly string[]> = {
  session: ["owner_boot_id", "owner_epoch", "spool_id", "spool_seq", "generation"],
  prompts: [],
  tokens: ["confirmed_at"],
  executor: [
    ...["agentctl_url", "agentctl_port", "last_seen_at", "updated_at", "reap_failures", "reap_after", "trashed_at"],
    ...["generation", "executor_name", "container_id", "pid", "supports_workspace_only", "last_message_uuid", "worktree_id"],
  ],
}

/** Every row equals what its log gives when it is replayed into an empty database. */
export function checkRows({ name, rows }: SessionEvidence): Finding[] {
  const rebuilt = rebuild(rows)
  if (typeof rebuilt === "string")
    return [{ invariant: "rows follow from the log", where: name, expected: "a log that can be replayed", found: rebuilt }]
  return (["session", "prompts", "tokens", "executor"] as const).flatMap((part): Finding[] => {
    const strip = (row: object) => Object.fromEntries(Object.entries(row).filter(([column]) => !NOT_DERIVED[part].includes(column)))
    const all = (value: object | object[]) => (Array.isArray(value) ? value : [value]).map(strip)
    const [live, expected] = [all(rows[part]), all(rebuilt[part])]
    if (isDeepStrictEqual(live, expected)) return []
    return [
      { invariant: "rows follow from the log", where: `${name}, ${part}`, expected: JSON.stringify(expected), found: JSON.stringify(live) },
    ]
  })
}

type Rebuilt = Record<"session" | "prompts" | "tokens" | "executor", object | object[]>

function rebuild({ session, executor, events }: Rows): Rebuilt | string {
  const db = new Database(":memory:")
  try {
    const migrations = join("prisma", "migrations", "sqlite")
    for (const folder of readdirSync(migrations).sort()) db.exec(readFileSync(join(migrations, folder, "migration.sql"), "utf8"))
    const { id, task_id, user_id, agent, runtime, created_at } = session
    const made = executor.created_at
    const born: Change[] = [
      insert("sessions", { id, task_id, user_id, agent, runtime, created_at, updated_at: created_at, state: "CREATED" }),
      insert("executors_running", {
        id: executor.id,
        session_id: id,
        task_id,
        runtime,
        status: "none",
        created_at: made,
        updated_at: made,
      }),
    ]
    const requests = events.map((row, i): WriteRequest => {
      const { session_id: _s, seq: _q, ts, v: _v, ...event } = parseRow(row)
      return {
        session_id: id,
        before: i === 0 ? born : [],
        events: [{ ts, kind: row.kind, v: row.v, terminal_run_id: row.terminal_run_id, payload: row.payload }],
        after: project(event as NewEvent, { session_id: id, task_id, ts, seq: { ref: "seq.0" } }),
        active_at: isActivity(event.kind) ? ts : null,
      }
    })
    for (const [i, request] of requests.entries()) {
      const lost = apply(db, request)
      if (lost) return `event ${i + 1}, ${events[i]?.kind}: ${lost}`
    }
    const all = (table: string, by: string) => db.prepare(`SELECT * FROM ${table} WHERE ${by} = ? ORDER BY id`).all(id) as object[]
    return {
      session: all("sessions", "id"),
      prompts: all("prompts", "session_id"),
      tokens: all("resume_tokens", "session_id"),
      executor: all("executors_running", "session_id"),
    }
  } finally {
    db.close()
  }
}

function apply(db: Database.Database, request: WriteRequest): string | null {
  db.exec("BEGIN")
  const steps = applyBatch([request], "sqlite")
  let step = steps.next()
  while (!step.done) {
    try {
      const statement = db.prepare<Value[], Record<string, Value>>(step.value.sql)
      const rows = statement.reader ? statement.all(...step.value.params) : []
      step = steps.next({ rows, count: statement.reader ? rows.length : statement.run(...step.value.params).changes })
    } catch (error) {
      step = steps.throw(error)
    }
  }
  db.exec("COMMIT")
  const [result] = step.value
  return result?.ok ? null : JSON.stringify(result)
}

import { storageTroubleIn } from "../platform/storage-trouble"
import type { Change, Value } from "./changes"
import { type Dialect, type Refs, type Statement, toStatement } from "./sql"

export type StoredEvent = { ts: string; kind: string; v: number; terminal_run_id: string | null; payload: string }

/** One commit on its way to the writer. `before` runs before seqs are given (it may insert the session itself), `after` may use them. */
export type WriteRequest = {
  session_id: string | null
  before: Change[]
  events: StoredEvent[]
  after: Change[]
  /** When the session was last active, if these events count as activity. */
  active_at: string | null
}

export type WriteResult =
  | { ok: true; first_seq: number; refs: Record<string, Value> }
  /** Somebody else was first: a change expected a row in a state it was no longer in. */
  | { ok: false; lost: { table: string; op: string } }
  | { ok: false; error: string; code: string | null }

export type Answer = { rows: Record<string, Value>[]; count: number }
class Lost extends Error {
  constructor(readonly change: Change) {
    super(`${change.op} ${change.table}`)
  }
}

/**
 * The one transaction body, for both databases: yields statements, receives answers. Each request has its own savepoint, so
 * that one that fails does not take the others with it. The driver puts BEGIN and COMMIT around it.
 */
export function* applyBatch(requests: readonly WriteRequest[], dialect: Dialect): Generator<Statement, WriteResult[], Answer> {
  const results: WriteResult[] = new Array(requests.length)
  for (const index of inSessionOrder(requests)) {
    yield { sql: "SAVEPOINT one", params: [] }
    try {
      results[index] = yield* applyOne(requests[index] as WriteRequest, dialect)
      yield { sql: "RELEASE SAVEPOINT one", params: [] }
    } catch (error) {
      // Nothing is wrong with this request, and the transaction may be gone already: the whole batch fails, to be tried again.
      if (storageTroubleIn(error)) throw error
      yield { sql: "ROLLBACK TO SAVEPOINT one", params: [] }
      yield { sql: "RELEASE SAVEPOINT one", params: [] }
      results[index] =
        error instanceof Lost
          ? { ok: false, lost: { table: error.change.table, op: error.change.op } }
          : { ok: false, error: error instanceof Error ? error.message : String(error), code: (error as { code?: string }).code ?? null }
    }
  }
  return results
}

/** Two servers that lock the same sessions in different orders would deadlock. */
const inSessionOrder = (requests: readonly WriteRequest[]) =>
  requests
    .map((_, index) => index)
    .sort((a, b) => {
      const [x, y] = [requests[a]?.session_id ?? "", requests[b]?.session_id ?? ""]
      return x < y ? -1 : x > y ? 1 : a - b
    })

const TAKE_SEQS: Record<Dialect, string> = {
  sqlite: `UPDATE "sessions" SET "last_seq" = "last_seq" + ?, "updated_at" = ?, "active_at" = COALESCE(?, "active_at") WHERE "id" = ? RETURNING "last_seq"`,
  postgresql: `UPDATE "sessions" SET "last_seq" = "last_seq" + $1, "updated_at" = $2, "active_at" = COALESCE($3, "active_at") WHERE "id" = $4 RETURNING "last_seq"`,
}
const ADD_EVENT: Record<Dialect, string> = {
  sqlite: `INSERT INTO "session_events" ("session_id", "seq", "ts", "kind", "v", "terminal_run_id", "payload") VALUES (?, ?, ?, ?, ?, ?, ?)`,
  postgresql: `INSERT INTO "session_events" ("session_id", "seq", "ts", "kind", "v", "terminal_run_id", "payload") VALUES ($1, $2, $3, $4, $5, $6, $7)`,
}

function* applyOne(request: WriteRequest, dialect: Dialect): Generator<Statement, WriteResult, Answer> {
  const refs: Refs = new Map()
  yield* applyChanges(request.before, dialect, refs)

  let first_seq = 0
  const { session_id, events } = request
  if (session_id !== null && events.length > 0) {
    const last = events[events.length - 1] as StoredEvent
    const taken = yield { sql: TAKE_SEQS[dialect], params: [events.length, last.ts, request.active_at, session_id] }
    const head = taken.rows[0]?.last_seq
    if (typeof head !== "number") throw new Lost({ op: "guard", table: "sessions", where: {} })
    first_seq = head - events.length + 1
    for (const [i, event] of events.entries()) {
      refs.set(`seq.${i}`, first_seq + i)
      yield {
        sql: ADD_EVENT[dialect],
        params: [session_id, first_seq + i, event.ts, event.kind, event.v, event.terminal_run_id, event.payload],
      }
    }
  }
  yield* applyChanges(request.after, dialect, refs)
  return { ok: true, first_seq, refs: named(request.before, refs) }
}

function* applyChanges(changes: readonly Change[], dialect: Dialect, refs: Refs): Generator<Statement, void, Answer> {
  for (const change of changes) {
    const answer = yield toStatement(change, dialect, refs)
    if ((change.op === "guard" || change.op === "guard_fewer") && answer.rows.length === 0) throw new Lost(change)
    if (change.op === "update" && change.expect === "one" && answer.count !== 1) throw new Lost(change)
    if (change.op === "insert" && change.as) refs.set(change.as, answer.rows[0]?.id ?? null)
  }
}

const named = (changes: readonly Change[], refs: Refs): Record<string, Value> =>
  Object.fromEntries(changes.flatMap((change) => (change.op === "insert" && change.as ? [[change.as, refs.get(change.as) ?? null]] : [])))

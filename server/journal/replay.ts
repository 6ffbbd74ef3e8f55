import { isActivity, type NewEvent, type SessionEvent } from "../../lib/contracts/events"
import type { Change, Condition, Ref, Setter, Value } from "./changes"
import { project } from "./project"

type Row = Record<string, Value>
type ReplayedTable = "sessions" | "executors_running" | "prompts" | "resume_tokens" | "workers"
/** The rows of one session, as the log alone gives them. */
export type ReplayedRows = Record<ReplayedTable, Row[]>
/** By id, so that a log of many prompts is replayed in a time that grows with its length, not with its square. */
type Tables = Record<ReplayedTable, Map<Value, Row>>
type Born = { session: Row & { id: string; task_id: number }; executor: Row & { id: string } }

/**
 * Folds a log into rows by the same rules that wrote them (`project`), without a database. A log with holes may say what the rows
 * do not expect: the later fact counts then, and `surprises` tells how often that was.
 */
export function createReplay(born: Born) {
  const session: Row = { ...born.session }
  const tables: Tables = {
    ...{ sessions: new Map([[session.id as string, session]]), executors_running: new Map([[born.executor.id, { ...born.executor }]]) },
    ...{ prompts: new Map(), resume_tokens: new Map(), workers: new Map() },
  }
  const surprises: { seq: number; kind: string; table: string }[] = []

  function take({ session_id, seq, ts, v: _v, ...event }: SessionEvent) {
    const at = { session_id, task_id: born.session.task_id, ts, seq: { ref: "seq" } }
    for (const change of project(event as NewEvent, at)) {
      if (!apply(tables, change, seq)) surprises.push({ seq, kind: event.kind, table: change.table })
    }
    session.last_seq = seq
    session.updated_at = ts
    if (isActivity(event.kind)) session.active_at = ts
  }
  /** A record that can be shown and that nothing follows from. */
  function pass({ seq, ts }: { seq: number; ts: string }) {
    session.last_seq = seq
    session.updated_at = ts
  }
  const rows = (): ReplayedRows => ({
    ...{ sessions: [...tables.sessions.values()], executors_running: [...tables.executors_running.values()] },
    ...{ prompts: [...tables.prompts.values()], resume_tokens: [...tables.resume_tokens.values()], workers: [...tables.workers.values()] },
  })
  return { take, pass, rows, surprises }
}

/** False when the change expected a row in another state. */
function apply(tables: Tables, change: Change, seq: number): boolean {
  const table = tables[change.table as ReplayedTable]
  const resolve = (value: Value | Ref | object): Value =>
    value !== null && typeof value === "object" ? ("ref" in value ? seq : null) : value
  if (change.op === "insert") {
    const row = Object.fromEntries(Object.entries(change.values).map(([name, value]) => [name, resolve(value)]))
    if (table.has(row.id ?? null)) return false
    table.set(row.id ?? null, row)
    return true
  }
  if (change.op !== "update") throw new Error(`an event projects to ${change.op}`)
  const meant = meantBy(table, change.where)
  const expected = meant.filter((row) => Object.entries(change.where).every(([name, condition]) => holds(row[name] ?? null, condition)))
  const found = expected.length > 0 || change.expect === "any" ? expected : meant
  for (const row of found) for (const [name, setter] of Object.entries(change.set)) row[name] = setTo(row[name] ?? null, setter, resolve)
  return change.expect === "any" || expected.length === 1
}

/** The rows a change is about, whatever their state: one by its id, or all of the session. */
function meantBy(table: Map<Value, Row>, where: Record<string, Condition>): Row[] {
  if (!("id" in where)) return [...table.values()].filter((row) => row.session_id === where.session_id)
  const row = table.get(where.id as Value)
  return row ? [row] : []
}

function setTo(current: Value, setter: Setter, resolve: (value: Value | Ref | object) => Value): Value {
  if (setter !== null && typeof setter === "object" && "inc" in setter) return Number(current ?? 0) + setter.inc
  return resolve(setter)
}

function holds(value: Value, condition: Condition): boolean {
  if (condition === null || typeof condition !== "object") return value === condition
  if ("in" in condition) return condition.in.includes(value)
  if ("not" in condition) return value !== condition.not
  if ("gt" in condition && typeof condition.gt !== "object") return value !== null && condition.gt !== null && value > condition.gt
  throw new Error("a projected change uses a condition replay does not know")
}

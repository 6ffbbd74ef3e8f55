import { isActivity, type NewEvent, type SessionEvent } from "../../lib/contracts/events"
import type { Change, Condition, Ref, Setter, Value } from "./changes"
import { project } from "./project"

type Row = Record<string, Value>
/** The rows of one session, as the log alone gives them. */
export type ReplayedRows = { sessions: Row[]; executors_running: Row[]; prompts: Row[]; resume_tokens: Row[]; workers: Row[] }
type Born = { session: Row & { id: string; task_id: number }; executor: Row & { id: string } }

/**
 * Folds a log into rows by the same rules that wrote them (`project`), without a database. A log with holes may say what the rows
 * do not expect: the later fact counts then, and `surprises` tells how often that was.
 */
export function createReplay(born: Born) {
  const rows: ReplayedRows = {
    ...{ sessions: [{ ...born.session }], executors_running: [{ ...born.executor }] },
    ...{ prompts: [], resume_tokens: [], workers: [] },
  }
  const surprises: { seq: number; kind: string; table: string }[] = []

  function take({ session_id, seq, ts, v: _v, ...event }: SessionEvent) {
    const at = { session_id, task_id: born.session.task_id, ts, seq: { ref: "seq" } }
    for (const change of project(event as NewEvent, at)) {
      if (!apply(rows, change, seq)) surprises.push({ seq, kind: event.kind, table: change.table })
    }
    const session = rows.sessions[0] as Row
    session.last_seq = seq
    session.updated_at = ts
    if (isActivity(event.kind)) session.active_at = ts
  }
  return { take, rows, surprises }
}

/** False when the change expected a row in another state. */
function apply(rows: ReplayedRows, change: Change, seq: number): boolean {
  const table = rows[change.table as keyof ReplayedRows]
  const resolve = (value: Value | Ref | object): Value =>
    value !== null && typeof value === "object" ? ("ref" in value ? seq : null) : value
  if (change.op === "insert") {
    const row = Object.fromEntries(Object.entries(change.values).map(([name, value]) => [name, resolve(value)]))
    if (table.some((known) => known.id === row.id)) return false
    table.push(row)
    return true
  }
  if (change.op !== "update") throw new Error(`an event projects to ${change.op}`)
  const expected = table.filter((row) => Object.entries(change.where).every(([name, condition]) => holds(row[name] ?? null, condition)))
  const key = "id" in change.where ? "id" : "session_id"
  const found = expected.length > 0 || change.expect === "any" ? expected : table.filter((row) => row[key] === change.where[key])
  for (const row of found) for (const [name, setter] of Object.entries(change.set)) row[name] = setTo(row[name] ?? null, setter, resolve)
  return change.expect === "any" || expected.length === 1
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

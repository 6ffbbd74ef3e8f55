import { parentPort, workerData } from "node:worker_threads"
import Database from "better-sqlite3"
import { killPoint } from "../../lib/host/kill-point"
import { type Answer, applyBatch, type WriteRequest } from "./apply-batch"
import type { Value } from "./changes"

/** SQLite's writer, in a thread of its own: an fsync takes milliseconds and must not stop the server's event loop. */
if (!parentPort) throw new Error("runs as a worker thread")
const port = parentPort

const db = new Database((workerData as { file: string }).file, { timeout: 10_000 })
db.pragma("journal_mode = WAL")
// The driver's default in WAL mode is NORMAL, which loses acknowledged commits in a power cut.
db.pragma("synchronous = FULL")

const prepared = new Map<string, Database.Statement<Value[], Record<string, Value>>>()
function prepare(sql: string) {
  const known = prepared.get(sql)
  if (known) return known
  const statement = db.prepare<Value[], Record<string, Value>>(sql)
  prepared.set(sql, statement)
  return statement
}

function execute(sql: string, params: Value[]): Answer {
  const statement = prepare(sql)
  if (statement.reader) {
    const rows = statement.all(...params)
    return { rows, count: rows.length }
  }
  return { rows: [], count: statement.run(...params).changes }
}

function run(batch: WriteRequest[]) {
  db.exec("BEGIN IMMEDIATE")
  try {
    const steps = applyBatch(batch, "sqlite")
    let step = steps.next()
    while (!step.done) {
      let answer: Answer
      try {
        answer = execute(step.value.sql, step.value.params)
      } catch (error) {
        step = steps.throw(error)
        continue
      }
      step = steps.next(answer)
    }
    killPoint("writer.applied")
    db.exec("COMMIT")
    killPoint("writer.committed")
    return step.value
  } catch (error) {
    if (db.inTransaction) db.exec("ROLLBACK")
    throw error
  }
}

port.on("message", (message: string) => {
  if (message === "close") {
    db.close()
    port.close()
    return
  }
  try {
    port.postMessage(JSON.stringify({ results: run(JSON.parse(message) as WriteRequest[]) }))
  } catch (error) {
    const code = (error as { code?: string }).code ?? null
    port.postMessage(JSON.stringify({ error: error instanceof Error ? error.message : String(error), code }))
  }
})

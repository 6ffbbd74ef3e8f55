import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import Database from "better-sqlite3"
import { insert, type Journal, openJournal, openWriter } from "../../server/journal"
import { type Answer, applyBatch, type WriteRequest } from "../../server/journal/apply-batch"
import type { Value } from "../../server/journal/changes"
import { realClock } from "../../server/platform/clock"
import { openDatabase } from "../../server/platform/database"
import { migrate } from "../../server/platform/migrate"
import type { Figure } from "./main"
import { median } from "./words"

const CONTENT = "x".repeat(64)
const ROUNDS = 3

/** Appends a second: one session that waits for each acknowledgement, and a hundred sessions that do so at once. */
export async function measureAppends(): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const [sessions, total] of [
    [1, 1_500],
    [100, 30_000],
  ] as const) {
    const runs: { ours: number; raw: number; jsonl: number }[] = []
    // The three take turns, so that a slow moment of the disk hits all of them.
    for (let round = 0; round < ROUNDS; round++) {
      runs.push({ ours: await throughJournal(sessions, total), raw: await rawSqlite(sessions, total), jsonl: jsonLines(sessions, total) })
    }
    const best = (pick: (run: (typeof runs)[number]) => number) => median(runs.map(pick))
    const [ours, raw, jsonl] = [best((run) => run.ours), best((run) => run.raw), best((run) => run.jsonl)]
    const what = `appends/s, ${sessions} session${sessions === 1 ? "" : "s"}`
    figures.push({
      what,
      ours: rate(ours),
      baseline: `${rate(raw)} raw SQLite, same statements`,
      ratio: `${(ours / raw).toFixed(2)}×`,
      aim: "≥ 0.8×",
    })
    figures.push({ what, ours: rate(ours), baseline: `${rate(jsonl)} JSONL, fdatasync`, ratio: `${(ours / jsonl).toFixed(2)}×`, aim: "–" })
  }
  return figures
}

const rate = (value: number) => Math.round(value).toLocaleString("en")

async function withFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "rewake-bench-"))
  try {
    return await work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const sessionRow = (id: string, now: string) =>
  insert("sessions", {
    id,
    task_id: 1,
    user_id: "u",
    agent: "demo",
    runtime: "standalone",
    created_at: now,
    updated_at: now,
    state: "CREATED",
  })

function throughJournal(sessions: number, total: number): Promise<number> {
  return withFolder(async (folder) => {
    const database = { kind: "sqlite", file: join(folder, "bench.db") } as const
    await migrate(database, "prisma/migrations")
    const db = await openDatabase(database)
    const journal = openJournal({
      writer: openWriter(database, { script: new URL("./writer-thread.mjs", import.meta.url) }),
      db,
      clock: realClock,
    })
    const ids = Array.from({ length: sessions }, (_, i) => `sess_${i}`)
    for (const id of ids) await journal.write([sessionRow(id, new Date().toISOString())])
    const started = performance.now()
    await Promise.all(ids.map((id) => appendMany(journal, id, total / sessions)))
    const perSecond = total / ((performance.now() - started) / 1000)
    await journal.close()
    await db.$disconnect()
    return perSecond
  })
}
async function appendMany(journal: Journal, id: string, count: number) {
  const session = { id, task_id: 1, user_id: "u" }
  for (let i = 0; i < count; i++) {
    await journal.commit({ session, events: [{ kind: "message.delta", message_id: "m", role: "agent", run_id: null, content: CONTENT }] })
  }
}

/** The very statements of the journal, on the driver, in groups of as many as there are sessions. */
function rawSqlite(sessions: number, total: number): Promise<number> {
  return withFolder(async (folder) => {
    const database = { kind: "sqlite", file: join(folder, "bench.db") } as const
    await migrate(database, "prisma/migrations")
    const db = new Database(database.file)
    db.pragma("journal_mode = WAL")
    db.pragma("synchronous = FULL")
    const prepared = new Map<string, Database.Statement<Value[], Record<string, Value>>>()
    const execute = (sql: string, params: Value[]): Answer => {
      const statement = prepared.get(sql) ?? db.prepare<Value[], Record<string, Value>>(sql)
      prepared.set(sql, statement)
      if (!statement.reader) return { rows: [], count: statement.run(...params).changes }
      const rows = statement.all(...params)
      return { rows, count: rows.length }
    }
    const commit = (batch: WriteRequest[]) => {
      db.exec("BEGIN IMMEDIATE")
      const steps = applyBatch(batch, "sqlite")
      for (let step = steps.next(); !step.done; ) step = steps.next(execute(step.value.sql, step.value.params))
      db.exec("COMMIT")
    }
    const ids = Array.from({ length: sessions }, (_, i) => `sess_${i}`)
    const now = new Date().toISOString()
    commit(ids.map((id) => ({ session_id: null, before: [sessionRow(id, now)], events: [], after: [], active_at: null })))
    const started = performance.now()
    for (let round = 0; round < total / sessions; round++) {
      const payload = () => JSON.stringify({ message_id: "m", role: "agent", run_id: null, content: CONTENT })
      commit(
        ids.map((id) => ({
          session_id: id,
          before: [],
          after: [],
          active_at: null,
          events: [{ ts: new Date().toISOString(), kind: "message.delta", v: 1, terminal_run_id: null, payload: payload() }],
        })),
      )
    }
    const perSecond = total / ((performance.now() - started) / 1000)
    db.close()
    return perSecond
  })
}

function jsonLines(sessions: number, total: number): number {
  const folder = mkdtempSync(join(tmpdir(), "rewake-bench-"))
  const fd = openSync(join(folder, "log.jsonl"), "a")
  const started = performance.now()
  for (let round = 0; round < total / sessions; round++) {
    const lines = Array.from({ length: sessions }, (_, i) =>
      JSON.stringify({ session_id: `sess_${i}`, seq: round, ts: new Date().toISOString(), content: CONTENT }),
    )
    writeSync(fd, `${lines.join("\n")}\n`)
    fdatasyncSync(fd)
  }
  const perSecond = total / ((performance.now() - started) / 1000)
  closeSync(fd)
  rmSync(folder, { recursive: true, force: true })
  return perSecond
}

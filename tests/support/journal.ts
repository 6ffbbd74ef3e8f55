import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { NewEvent } from "../../lib/contracts/events"
import { insert, type Journal, openJournal, openWriter, type SessionRef } from "../../server/journal"
import { realClock } from "../../server/platform/clock"
import { type Database, openDatabase } from "../../server/platform/database"
import { migrate } from "../../server/platform/migrate"
import { createPostgresDatabase } from "./postgres"
import type { DatabaseKind } from "./server"

type Store = { kind: "sqlite"; file: string } | { kind: "postgresql"; url: string }
const root = new URL("../../", import.meta.url)

/** A journal over a database, as a server process would open it; several over one database are several servers. */
export async function openJournalOver(store: Store): Promise<{ journal: Journal; db: Database; close(): Promise<void> }> {
  const db = await openDatabase(store)
  const writer = openWriter(store, { script: new URL("dist/writer-thread.mjs", root) })
  const journal = openJournal({ writer, db, clock: realClock })
  return {
    journal,
    db,
    async close() {
      await journal.close()
      await db.$disconnect()
    },
  }
}

/** A migrated, empty database for one test file. */
export async function createStore(kind: DatabaseKind): Promise<{ store: Store; drop(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), "rewake-journal-"))
  const postgres = kind === "postgresql" ? await createPostgresDatabase() : null
  const store: Store = postgres ? { kind: "postgresql", url: postgres.url } : { kind: "sqlite", file: join(folder, "journal.db") }
  await migrate(store, new URL("prisma/migrations", root).pathname)
  return {
    store,
    async drop() {
      await postgres?.drop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

let made = 0
/** A task with one session, its executor row and its first event, in one commit. */
export async function makeSession(journal: Journal, id = `sess_${process.pid}_${++made}`): Promise<SessionRef> {
  const at = realClock.now().toISOString()
  const times = { created_at: at, updated_at: at }
  const { refs } = await journal.commit({
    session: { id, task_id: 0, user_id: "usr_1" },
    rows: [
      insert(
        "tasks",
        { owner_id: "usr_1", type: "chat", title: "A task", state: "REVIEW", agent: "demo", last_activity_at: at, ...times },
        "task_id",
      ),
      insert("sessions", {
        id,
        task_id: { ref: "task_id" },
        user_id: "usr_1",
        agent: "demo",
        runtime: "standalone",
        state: "WAITING_FOR_INPUT",
        ...times,
      }),
      insert("executors_running", {
        id: `exe_${id}`,
        session_id: id,
        task_id: { ref: "task_id" },
        runtime: "standalone",
        status: "none",
        ...times,
      }),
    ],
    events: [{ kind: "session.state_changed", from: null, to: "WAITING_FOR_INPUT", cause: "created" }],
  })
  return { id, task_id: refs.task_id as number, user_id: "usr_1" }
}

export const delta = (content: string, run_id: string | null = null): NewEvent => ({
  kind: "message.delta",
  message_id: "msg_1",
  run_id,
  role: "agent",
  content,
})
export const started = (run_id: string): NewEvent => ({ kind: "run.started", run_id, boot_id: "boot_1", prompt_id: `prm_${run_id}` })
export const completed = (run_id: string): NewEvent => ({ kind: "run.completed", run_id, stop_reason: "end_turn" })
export const interrupted = (run_id: string): NewEvent => ({ kind: "run.interrupted", run_id, reason: "process_restart" })

import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { type NewEvent, SessionEvent } from "../../lib/contracts/events"
import type { QueuedPrompt, SessionView } from "../../lib/contracts/task"
import { type Change, insert, openJournal, openWriter } from "../../server/journal"
import { type Database, openDatabase } from "../../server/platform/database"
import { createStore } from "../support/journal"
import { DATABASES } from "../support/server"
import { useServer } from "../support/use-server"
import { waitUntil } from "../support/wait-until"

/** What does not follow from the log: who made the row, who may act for it, how far a daemon was read, where it was last seen. */
const NOT_DERIVED = {
  session: ["owner_boot_id", "owner_epoch", "spool_id", "spool_seq"],
  prompt: [],
  resumeToken: ["confirmed_at"],
  executorRunning: [
    ...["agentctl_url", "agentctl_port", "last_seen_at", "updated_at"],
    ...["generation", "executor_name", "container_id", "pid", "supports_workspace_only", "last_message_uuid", "worktree_id"],
  ],
} as const

const without = (row: object, columns: readonly string[]) =>
  Object.fromEntries(Object.entries(row).filter(([name]) => !columns.includes(name)))

describe.each(DATABASES)("every row can be rebuilt from the log alone, on %s", (database) => {
  const rewake = useServer({ database })

  const post = (path: string, body: object = {}) => rewake.api("POST", path, body)
  const waiting = (id: string) => rewake.waitForEvent(id, (event) => event.kind === "run.waiting", "the question")

  /** Sessions that have been through most of what can happen to one. */
  async function variedLife(): Promise<string[]> {
    const first = await rewake.createTask("remember pear")
    const busy = await rewake.createTask("hang")
    const asking = await rewake.createTask("ask Which way?")
    const inject = await rewake.createTask("remember fig", { agent: "demo-inject" })
    const open = await rewake.createTask("run echo still-open")
    const later = (await rewake.api<SessionView>("POST", `/api/v1/tasks/${first.task.id}/sessions`, {})).body

    await rewake.waitForRuns(first.session.id, 1)
    await rewake.append(first.task.id, "crash", { session_id: first.session.id })
    await rewake.waitForRuns(first.session.id, 2)
    await rewake.append(first.task.id, "write note.txt \u0000 and \ud800", { session_id: first.session.id, client_message_id: "c-1" })
    await rewake.append(first.task.id, "count 20 5", { session_id: later.id })

    await rewake.waitForEvent(busy.session.id, (event) => event.kind === "message.delta", "the busy agent")
    const queue: string[] = []
    for (const message of ["plan", "think", "never", "recall"]) queue.push((await rewake.append(busy.task.id, message)).prompt_id)
    const of = `/api/v1/sessions/${busy.session.id}/queue`
    await rewake.api<{ prompts: QueuedPrompt[] }>("PATCH", `${of}/${queue[3]}`, { message: "recall", position: 0 })
    await rewake.api("PATCH", `${of}/${queue[1]}`, { message: "think" })
    await rewake.api("DELETE", `${of}/${queue[2]}`)
    await post(`/api/v1/sessions/${busy.session.id}/cancel`)

    const tabs = `/api/v1/sessions/${first.session.id}/workers`
    const made: string[] = []
    for (const name of ["one", "two", "three"])
      made.push((await rewake.api<{ worker: { id: string } }>("POST", tabs, { type: "terminal", name })).body.worker.id)
    await rewake.api("PATCH", `${tabs}/${made[2]}`, { name: "first", position: 0 })
    await rewake.api("DELETE", `${tabs}/${made[1]}`)

    await waiting(asking.session.id)
    const [wait] = (await rewake.session(asking.session.id)).waits
    await post(`/api/v1/sessions/${asking.session.id}/waits/${wait?.token_id}`, {
      secret: wait?.secret,
      outcome: { kind: "selected", option_id: wait?.options[0]?.id },
    })
    await rewake.waitForRuns(asking.session.id, 1)
    await rewake.append(asking.task.id, "ask Again?")
    await rewake.waitForEvent(asking.session.id, (event) => event.kind === "run.waiting" && event.title === "Again?", "the second question")
    await rewake.append(asking.task.id, "hello instead")

    await rewake.waitForRuns(inject.session.id, 1)
    await rewake.append(inject.task.id, "count 1000 20")
    await rewake.waitForEvent(inject.session.id, (event) => event.kind === "message.delta" && event.content.includes("5"), "some numbers")
    await waiting(open.session.id)
    await rewake.waitForRuns(busy.session.id, 4)
    await rewake.waitForRuns(asking.session.id, 3)
    await rewake.waitForRuns(first.session.id, 3)
    await rewake.waitForRuns(later.id, 1)

    rewake.killDaemon()
    await rewake.waitForRuns(inject.session.id, 2)
    await rewake.waitForRuns(open.session.id, 1)
    await rewake.append(inject.task.id, "recall")
    await rewake.waitForRuns(inject.session.id, 3)
    await rewake.append(open.task.id, "run echo open-at-the-end")
    await rewake.waitForEvent(
      open.session.id,
      (event) => event.kind === "run.waiting" && event.title.includes("open-at-the-end"),
      "the last",
    )
    return [first, busy, asking, inject, open].map(({ session }) => session.id).concat(later.id)
  }

  test("replayed into an empty database, the events of varied lives give the very rows the server holds", async () => {
    const ids = await variedLife()
    await waitUntil(async () => {
      const states = await Promise.all(ids.map(async (id) => (await rewake.session(id)).state))
      return states.filter((state) => state === "WAITING_FOR_INPUT").length === ids.length - 1 && states.includes("RUNNING")
    }, "all but the waiting session at rest")
    await rewake.kill9()

    const live = await openDatabase(
      rewake.database.url ? { kind: "postgresql", url: rewake.database.url } : { kind: "sqlite", file: join(rewake.dataDir, "rewake.db") },
    )
    const empty = await createStore(database)
    const rebuilt = await openDatabase(empty.store)
    try {
      for (const id of ids) await replay(live, rebuilt, empty.store, id)
      for (const session_id of ids) {
        const rows = async (db: Database) => ({
          session: (await db.session.findMany({ where: { id: session_id } })).map((row) => without(row, NOT_DERIVED.session)),
          prompts: (await db.prompt.findMany({ where: { session_id }, orderBy: { id: "asc" } })).map((row) =>
            without(row, NOT_DERIVED.prompt),
          ),
          tokens: (await db.resumeToken.findMany({ where: { session_id }, orderBy: { id: "asc" } })).map((row) =>
            without(row, NOT_DERIVED.resumeToken),
          ),
          workers: await db.worker.findMany({ where: { session_id }, orderBy: { id: "asc" } }),
          executor: (await db.executorRunning.findMany({ where: { session_id } })).map((row) => without(row, NOT_DERIVED.executorRunning)),
          events: (await db.sessionEvent.findMany({ where: { session_id }, orderBy: { seq: "asc" } })).map((row) => ({
            ...row,
            payload: JSON.parse(row.payload),
          })),
        })
        expect(await rows(rebuilt)).toEqual(await rows(live))
      }
      const kinds = new Set((await live.sessionEvent.findMany({ select: { kind: true }, distinct: ["kind"] })).map((row) => row.kind))
      for (const kind of ["prompt.edited", "prompt.reordered", "prompt.withdrawn", "token.consumed", "token.revoked", "run.failed"]) {
        expect(kinds).toContain(kind)
      }
      for (const kind of ["worker.opened", "worker.renamed", "worker.moved", "worker.closed"]) expect(kinds).toContain(kind)
      for (const kind of ["run.completed", "run.cancelled", "run.interrupted", "agent.exited", "executor.ready"])
        expect(kinds).toContain(kind)
    } finally {
      await live.$disconnect()
      await rebuilt.$disconnect()
      await empty.drop()
    }
  })
})

/** The session as it was made, then its events one after the other, each at the time the log gives it. */
async function replay(
  live: Database,
  rebuilt: Database,
  store: Awaited<ReturnType<typeof createStore>>["store"],
  id: string,
): Promise<void> {
  const born = await live.session.findUniqueOrThrow({ where: { id } })
  const executor = await live.executorRunning.findUniqueOrThrow({ where: { session_id: id } })
  const log = (await live.sessionEvent.findMany({ where: { session_id: id }, orderBy: { seq: "asc" } })).map((row) =>
    SessionEvent.parse({ ...JSON.parse(row.payload), session_id: row.session_id, seq: row.seq, ts: row.ts, v: row.v, kind: row.kind }),
  )
  let now = new Date(0)
  const writer = openWriter(store, { script: new URL("../../dist/writer-thread.mjs", import.meta.url) })
  const journal = openJournal({ writer, db: rebuilt, clock: { now: () => now } })
  const { task_id, user_id, agent, runtime, created_at } = born
  const made = executor.created_at
  const rows: Change[] = [
    insert("sessions", { id, task_id, user_id, agent, runtime, created_at, updated_at: created_at, state: "CREATED" }),
    insert("executors_running", {
      ...{ id: executor.id, session_id: id, task_id, runtime, status: "none", created_at: made, updated_at: made },
      // Given when a further session of a code task is made; a chat task has none.
      worktree_branch: null,
    }),
  ]
  try {
    for (const [i, { session_id, seq, ts, v, ...event }] of log.entries()) {
      now = new Date(ts)
      const { events } = await journal.commit({
        session: { id, task_id, user_id },
        rows: i === 0 ? rows : [],
        events: [event as NewEvent],
      })
      expect(events[0]?.seq).toBe(seq)
    }
  } finally {
    await journal.close()
  }
}

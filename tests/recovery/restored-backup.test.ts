import { cpSync, existsSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { Client } from "pg"
import { afterEach, describe, expect, test } from "vitest"
import type { Recovery } from "../../lib/contracts/admin"
import type { SessionEvent } from "../../lib/contracts/events"
import type { SessionStatusReport } from "../../lib/contracts/status"
import type { QueuedPrompt } from "../../lib/contracts/task"
import { agentText, DATABASES, Rewake } from "../support/server"
import { waitUntil } from "../support/wait-until"

describe.each(DATABASES)("a backup of the database is put back, on %s", (database) => {
  let rewake: Rewake
  let drop = async () => {}
  afterEach(async () => {
    await rewake.stop()
    await drop()
  })

  /** A copy of the database of a server that is not running; what it returns puts the copy back. */
  async function backUp(): Promise<() => Promise<void>> {
    if (!rewake.database.url) {
      const files = ["rewake.db", "rewake.db-wal", "rewake.db-shm"].map((name) => join(rewake.dataDir, name))
      for (const file of files.filter(existsSync)) cpSync(file, `${file}.backup`)
      return async () => {
        for (const file of files) {
          rmSync(file, { force: true })
          if (existsSync(`${file}.backup`)) cpSync(`${file}.backup`, file)
        }
      }
    }
    const url = new URL(rewake.database.url)
    const name = url.pathname.slice(1)
    const admin = process.env.TEST_DATABASE_URL as string
    const copy = async (from: string, to: string) => {
      const client = new Client({ connectionString: admin })
      await client.connect()
      await client.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = ANY($1)", [[from, to]])
      await client.query(`DROP DATABASE IF EXISTS "${to}" WITH (FORCE)`)
      await client.query(`CREATE DATABASE "${to}" TEMPLATE "${from}"`)
      await client.end()
    }
    await copy(name, `${name}_backup`)
    drop = async () => {
      const client = new Client({ connectionString: admin })
      await client.connect()
      await client.query(`DROP DATABASE IF EXISTS "${name}_backup" WITH (FORCE)`)
      await client.end()
    }
    return () => copy(`${name}_backup`, name)
  }

  const generation = async (id: string) =>
    (await rewake.api<{ generation: string }>("GET", `/api/v1/sessions/${id}/events?limit=1`)).body.generation
  const queue = async (id: string) => (await rewake.api<{ prompts: QueuedPrompt[] }>("GET", `/api/v1/sessions/${id}/queue`)).body.prompts
  const status = async (id: string) => (await rewake.api<SessionStatusReport>("GET", `/api/v1/sessions/${id}/status`)).body
  const recovered = () =>
    waitUntil(async () => {
      const { body } = await rewake.api<{ items: Recovery[] }>("GET", "/api/v1/admin/recoveries")
      const { boot_id } = JSON.parse(readFileSync(join(rewake.dataDir, "run", "server.json"), "utf8")) as { boot_id: string }
      return body.items.find((item) => item.boot_id === boot_id && item.finished_at !== null)
    }, "the recovery report")
  const kinds = (log: readonly SessionEvent[], kind: SessionEvent["kind"]) => log.filter((event) => event.kind === kind)

  test("[2][4] readers start anew, questions are withdrawn, and a message that was queued reaches the agent once", async () => {
    rewake = await Rewake.start({ database, env: { AUTO_RESUME: "off" } })
    const asking = await rewake.createTask("ask Which way?")
    await rewake.waitForEvent(asking.session.id, (event) => event.kind === "run.waiting", "the question")
    const [wait] = (await rewake.session(asking.session.id)).waits
    const busy = await rewake.createTask("count 5000 50")
    await rewake.waitForEvent(busy.session.id, (event) => event.kind === "message.delta", "a number")
    const unsent = await rewake.append(busy.task.id, "remember moon")
    // Last, because it must still be counting when the server is killed.
    const counting = await rewake.createTask("count 100 50")
    const counted = await rewake.waitForEvent(counting.session.id, (event) => event.kind === "message.delta", "a number")
    const head = counted.at(-1)?.seq ?? 0
    await rewake.append(counting.task.id, "remember lime")
    const before = await generation(counting.session.id)
    await rewake.kill9()
    const putBack = await backUp()

    await rewake.boot()
    expect(await generation(counting.session.id)).toBe(before)
    await rewake.waitForRuns(counting.session.id, 2)
    await rewake.append(counting.task.id, "remember plum")
    const lost = await rewake.waitForRuns(counting.session.id, 3)
    const late = rewake.socket()
    await rewake.kill9()
    await putBack()
    await rewake.boot()
    const report = await recovered()
    expect(report.note).toContain("A backup was restored.")
    const after = await generation(counting.session.id)
    expect(after).not.toBe(before)

    // A reader of the old generation, ahead of this log, is given all of it.
    const seen: number[] = []
    for (const name of ["session.event", "session.message.added", "session.message.updated", "session.state_changed"])
      late.on(name, (event: SessionEvent) => seen.push(event.seq))
    const ack = await late.emitWithAck("session.subscribe", {
      session_id: counting.session.id,
      after_seq: lost.at(-1)?.seq,
      generation: before,
    })
    expect(ack.generation).toBe(after)
    await waitUntil(() => seen.includes(1) && seen.includes(head), "the log from its start")

    // What the daemon's spool still had is in the log again, and the queued message it had taken is not sent again.
    const log = await rewake.waitForRuns(counting.session.id, 3)
    expect(agentText(log)).toContain("plum")
    expect(kinds(log, "prompt.held")).toMatchObject([{ reason: "backup_restored" }])
    expect(await queue(counting.session.id)).toEqual([])
    expect(kinds(log, "run.completed")).toHaveLength(3)
    expect((await status(counting.session.id)).is_agent_running).toBe(true)
    await rewake.append(counting.task.id, "recall")
    expect(agentText(await rewake.waitForRuns(counting.session.id, 4))).toContain("I remember: lime, plum")

    // Nobody can answer the question any more.
    const asked = await rewake.waitForRuns(asking.session.id, 1)
    expect(kinds(asked, "token.revoked")).toMatchObject([{ reason: "backup_restored" }])
    expect(kinds(asked, "run.interrupted")).toMatchObject([{ reason: "token_invalid" }])
    const answer = { secret: wait?.secret, outcome: { kind: "selected", option_id: wait?.options[0]?.id } }
    const answered = await rewake.api("POST", `/api/v1/sessions/${asking.session.id}/waits/${wait?.token_id}`, answer)
    expect(answered).toMatchObject({ status: 409, body: { code: "RESUME_TOKEN_REJECTED", reason: "revoked" } })

    // A run that went on all the while is adopted; the message behind it waits for a person.
    await rewake.api("POST", `/api/v1/sessions/${busy.session.id}/cancel`)
    const cancelled = await rewake.waitForRuns(busy.session.id, 1)
    expect(kinds(cancelled, "run.cancelled")).toHaveLength(1)
    expect(await queue(busy.session.id)).toMatchObject([{ prompt_id: unsent.prompt_id, held: true }])
    await rewake.append(busy.task.id, "recall")
    expect(agentText(await rewake.waitForRuns(busy.session.id, 2))).toContain("I remember nothing yet")
    const released = await rewake.api("PATCH", `/api/v1/sessions/${busy.session.id}/queue/${unsent.prompt_id}`, { held: false })
    expect(released.status).toBe(200)
    expect(agentText(await rewake.waitForRuns(busy.session.id, 3))).toContain("moon")
  })

  test("a database that only stood still is no backup", async () => {
    rewake = await Rewake.start({ database })
    const { session } = await rewake.createTask("remember fig")
    await rewake.waitForRuns(session.id, 1)
    const before = await generation(session.id)
    for (const stop of [() => rewake.kill9(), () => rewake.kill9()]) {
      await stop()
      await rewake.boot()
    }
    expect((await recovered()).note).toBeNull()
    expect(await generation(session.id)).toBe(before)
  })
})

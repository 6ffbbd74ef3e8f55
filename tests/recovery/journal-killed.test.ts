import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, rmSync } from "node:fs"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { SessionRef } from "../../server/journal"
import { createStore, delta, interrupted, makeSession, openJournalOver } from "../support/journal"
import { DATABASES } from "../support/server"

const ROUNDS = 12
const folder = fileURLToPath(new URL(`../../.cache/append-heavily-${process.pid}/`, import.meta.url))
const program = `${folder}append-heavily.mjs`

beforeAll(async () => {
  mkdirSync(folder, { recursive: true })
  const bundles = await import(new URL("../../scripts/lib/bundles.mjs", import.meta.url).href)
  await bundles.esbuild.build(bundles.toolBundle("./tests/support/append-heavily.ts", program))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe.each(DATABASES)("the journal's process is killed, on %s", (database) => {
  let here: Awaited<ReturnType<typeof createStore>>
  beforeAll(async () => {
    here = await createStore(database)
  })
  afterAll(() => here.drop())

  /** Runs the program until it has acknowledged so much, kills it there, and gives everything it said. */
  async function appendUntilKilled(sessions: SessionRef[], name: string, limit: number): Promise<string[]> {
    const child = spawn(process.execPath, [program, JSON.stringify({ store: here.store, sessions, name })], {
      stdio: ["ignore", "pipe", "inherit"],
    })
    const exited = once(child, "exit")
    const acknowledged: string[] = []
    for await (const line of createInterface({ input: child.stdout })) {
      acknowledged.push(line)
      if (acknowledged.length === limit) child.kill("SIGKILL")
    }
    expect(await exited).toEqual([null, "SIGKILL"])
    return acknowledged
  }

  test("[1] every acknowledged event is there, whole commits only, without a gap, at whatever moment it dies", async () => {
    const first = await openJournalOver(here.store)
    const sessions = await Promise.all([1, 2, 3].map(() => makeSession(first.journal)))
    await first.close()
    const promised = new Map<string, string>()

    for (let round = 1; round <= ROUNDS; round++) {
      const limit = 1 + Math.floor(40 * (round - 1) * (1 + (round % 3)))
      for (const line of await appendUntilKilled(sessions, `r${round}`, limit)) {
        const [id, seq, kind] = line.split(" ") as [string, string, string]
        expect(promised.has(`${id} ${seq}`)).toBe(false)
        promised.set(`${id} ${seq}`, kind)
      }

      const { journal, db, close } = await openJournalOver(here.store)
      const stored = await db.sessionEvent.findMany({ select: { session_id: true, seq: true, kind: true }, orderBy: { seq: "asc" } })
      const byPlace = new Map(stored.map((row) => [`${row.session_id} ${row.seq}`, row.kind]))
      for (const [place, kind] of promised) expect(`${place} ${byPlace.get(place)}`).toBe(`${place} ${kind}`)
      for (const session of sessions) {
        const log = stored.filter((row) => row.session_id === session.id)
        expect(log.map((row) => row.seq)).toEqual(log.map((_, i) => i + 1))
        const row = await db.session.findUniqueOrThrow({ where: { id: session.id } })
        expect(row.last_seq).toBe(log.length)
        // The program starts and ends a run in one commit: half of one would show here.
        expect(row.open_run_id).toBeNull()
        expect(log.filter(({ kind }) => kind === "run.started")).toHaveLength(log.filter(({ kind }) => kind === "run.completed").length)
        await expect(journal.commit({ session, events: [interrupted("run_of_nobody")] })).rejects.toThrow()
        const next = await journal.commit({ session, events: [delta("after the kill")] })
        expect(next.events[0]?.seq).toBe(log.length + 1)
        promised.set(`${session.id} ${log.length + 1}`, "message.delta")
      }
      await close()
    }
    expect(promised.size).toBeGreaterThan(1_000)
  })
})

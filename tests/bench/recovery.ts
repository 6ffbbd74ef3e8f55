import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import Database from "better-sqlite3"
import type { Recovery } from "../../lib/contracts/admin"
import { inParallel } from "../../server/recovery/in-parallel"
import { Rewake } from "../support/server"
import { waitUntil } from "../support/wait-until"
import { bareTakeUp } from "./bare-agent"
import type { Figure } from "./main"
import { measureResumption } from "./resumption"
import { median, ms, times } from "./words"

const STARTS = 3
const RESUMES = 11
const ASKS = 400
const FINISHED = 100_000
const SLEEPING = 1_000

/** What comes back, and how fast: beside an empty server, a bare agent, a small database. */
export async function measureRecovery(): Promise<Figure[]> {
  const empty = await withRewake((rewake) => medianStart(rewake))
  const figures: Figure[] = []
  for (const live of [10, 100]) figures.push(...(await withRewake((rewake) => adoption(rewake, live, empty.ready))))
  figures.push(...(await history(empty.sweep)))
  figures.push(await withRewake(resumption))
  return figures
}

async function withRewake<T>(work: (rewake: Rewake) => Promise<T>): Promise<T> {
  const rewake = await Rewake.start()
  try {
    return await work(rewake)
  } finally {
    await rewake.stop()
  }
}

/** SIGKILL, then: until ready, from there until the report says that everything was looked after, and how long that took by itself. */
async function killAndStart(rewake: Rewake) {
  await rewake.kill9()
  const killed = performance.now()
  await rewake.boot()
  const ready = performance.now()
  const report = await waitUntil(async () => {
    const { boot_id } = JSON.parse(readFileSync(join(rewake.dataDir, "run", "server.json"), "utf8")) as { boot_id: string }
    const { items } = (await rewake.api<{ items: Recovery[] }>("GET", "/api/v1/admin/recoveries")).body
    return items.find((item) => item.boot_id === boot_id && item.finished_at !== null)
  }, "the recovery report")
  return { ready: ready - killed, done: performance.now() - ready, sweep: report.took_ms ?? 0, report }
}

async function medianStart(rewake: Rewake) {
  const starts = []
  for (let i = 0; i < STARTS; i++) starts.push(await killAndStart(rewake))
  return {
    ready: median(starts.map((start) => start.ready)),
    done: median(starts.map((start) => start.done)),
    sweep: median(starts.map((start) => start.sweep)),
    reports: starts.map((start) => start.report),
  }
}

async function adoption(rewake: Rewake, live: number, empty: number): Promise<Figure[]> {
  await inParallel(
    4,
    Array.from({ length: live }, (_, i) => i),
    async () => {
      const { session } = await rewake.createTask("count 1000000 1000")
      await rewake.waitForEvent(session.id, (event) => event.kind === "message.delta", "a number")
    },
  )
  const { ready, done, reports } = await medianStart(rewake)
  for (const { adopted } of reports) if (adopted !== live) throw new Error(`${adopted} of ${live} sessions were adopted`)
  const what = `${live} live sessions`
  return [
    { what: `SIGKILL to ready, ${what}`, ours: ms(ready), baseline: `${ms(empty)} empty`, ratio: times(ready, empty), aim: "< 1.5 s" },
    { what: `ready to all adopted, ${what}`, ours: ms(done), baseline: "–", ratio: "–", aim: "< 2 s" },
  ]
}

/** The sweep of a start, and the status of one session, with few sessions and with very many. */
async function history(emptySweep: number): Promise<Figure[]> {
  const few = await withRewake(async (rewake) => {
    await rewake.kill9()
    const id = fill(rewake, { finished: 5, sleeping: 5 })
    await rewake.boot()
    return askStatus(rewake, id)
  })
  const many = await withRewake(async (rewake) => {
    await rewake.kill9()
    const id = fill(rewake, { finished: FINISHED, sleeping: SLEEPING })
    await rewake.boot()
    const { sweep } = await medianStart(rewake)
    return { sweep, status: await askStatus(rewake, id) }
  })
  const what = `${SLEEPING.toLocaleString("en")} sleeping, ${FINISHED.toLocaleString("en")} finished`
  return [
    { what: `sweep of a start, ${what}`, ours: ms(many.sweep), baseline: `${ms(emptySweep)} empty`, ratio: "–", aim: "flat" },
    {
      what: "status, 101,000 sessions",
      ours: ms(many.status),
      baseline: `${ms(few)} with 10`,
      ratio: times(many.status, few),
      aim: "≤ 1.2×",
    },
  ]
}

async function askStatus(rewake: Rewake, id: string): Promise<number> {
  const took: number[] = []
  for (let i = 0; i < ASKS; i++) {
    const asked = performance.now()
    const { status } = await rewake.api("GET", `/api/v1/sessions/${id}/status`)
    took.push(performance.now() - asked)
    if (status !== 200) throw new Error(`status answered ${status}`)
  }
  return median(took.slice(ASKS / 4))
}

/** Straight into the file of a server that is not running; returns a sleeping session. */
function fill(rewake: Rewake, { finished, sleeping }: { finished: number; sleeping: number }): string {
  const db = new Database(join(rewake.dataDir, "rewake.db"))
  const user = (db.prepare("SELECT id FROM users").get() as { id: string }).id
  const at = new Date(Date.now() - 3_600_000).toISOString()
  const task = db.prepare(
    `INSERT INTO tasks (owner_id, type, title, state, agent, created_at, updated_at, last_activity_at) VALUES (?, 'chat', 'A task', ?, 'demo', ?, ?, ?)`,
  )
  const session = db.prepare(
    `INSERT INTO sessions (id, task_id, user_id, agent, runtime, created_at, updated_at, last_seq, state) VALUES (?, ?, ?, 'demo', 'standalone', ?, ?, 3, ?)`,
  )
  const executor = db.prepare(
    `INSERT INTO executors_running (id, session_id, task_id, runtime, status, supports_session_resume, resume_token, created_at, updated_at) VALUES (?, ?, ?, 'standalone', ?, 1, 'demo_0', ?, ?)`,
  )
  const prompt = db.prepare(
    `INSERT INTO prompts (id, session_id, task_id, message_id, content, state, rank, queued_at) VALUES (?, ?, ?, ?, '"hello"', 'delivered', 0, ?)`,
  )
  const event = db.prepare(`INSERT INTO session_events (session_id, seq, ts, kind, v, payload) VALUES (?, ?, ?, ?, 1, ?)`)
  const add = (id: string, state: string, status: string) => {
    const task_id = Number(task.run(user, state === "COMPLETED" ? state : "REVIEW", at, at, at).lastInsertRowid)
    session.run(id, task_id, user, at, at, state)
    executor.run(`exe_${id}`, id, task_id, status, at, at)
    prompt.run(`prm_${id}`, id, task_id, `msg_${id}`, at)
    for (let seq = 1; seq <= 3; seq++) event.run(id, seq, at, "agent.update", '{"run_id":null,"update":null}')
  }
  db.transaction(() => {
    for (let i = 0; i < finished; i++) add(`sess_finished${i}`, "COMPLETED", "stopped")
    for (let i = 0; i < sleeping; i++) add(`sess_sleeping${i}`, "WAITING_FOR_INPUT", "ready")
  })()
  db.close()
  return "sess_sleeping0"
}

async function resumption(rewake: Rewake): Promise<Figure> {
  const { session } = await rewake.createTask("remember pear")
  const [build] = readdirSync(join(rewake.dataDir, "bin"))
  const demo = join(rewake.dataDir, "bin", build ?? "", "demo-agent.mjs")
  const env = { ...process.env, REWAKE_DATA_DIR: rewake.dataDir }
  return measureResumption(rewake, session.id, {
    what: "resume, click to ready",
    rounds: RESUMES,
    patienceMs: 15_000,
    bare: ({ agentSessionId }) =>
      bareTakeUp(
        { command: process.execPath, args: [demo, "--variant", "demo"], cwd: rewake.dataDir, env },
        "session/load",
        agentSessionId,
      ),
  })
}

import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { Client } from "pg"
import { describe, expect, test } from "vitest"
import type { SessionView } from "../../lib/contracts/task"
import { attach, pictureOf, sha256 } from "../support/attachments"
import { endsOf, ofKind } from "../support/events"
import { arm, heardByAgents } from "../support/kill-points"
import { agentText, DATABASES, numbers, type Rewake } from "../support/server"
import { useServers } from "../support/use-servers"
import { waitUntil } from "../support/wait-until"

const start = useServers()

let rewake: Rewake

describe.each(DATABASES)("a process dies at the worst moment, on %s", (database) => {
  test("[2] the daemon after it recorded a prompt and before the agent worked: uncertain, and never sent again", async () => {
    rewake = await start({ armed: true, database })
    const { task, session } = await rewake.createTask("remember kiwi")
    await rewake.waitForRuns(session.id, 1)
    const point = arm(rewake, "ledger.recorded")
    const sent = await rewake.append(task.id, "remember lost")
    await point.reached()
    const log = await rewake.waitForRuns(session.id, 2)
    expect(ofKind(log, "run.interrupted").map((event) => event.reason)).toEqual(["delivery_uncertain"])

    await rewake.append(task.id, "recall")
    const later = await rewake.waitForRuns(session.id, 3)
    expect(agentText(later)).toContain("I remember: kiwi")
    expect(agentText(later)).not.toContain("lost")
    expect(ofKind(later, "prompt.delivering").filter((event) => event.prompt_id === sent.prompt_id)).toHaveLength(1)
    expect(heardByAgents(rewake)).toEqual(["remember kiwi", "recall"])
  })

  test("[2] the server between its record and the hand-over: the prompt is handed over once, by the next one", async () => {
    rewake = await start({ armed: true, database })
    const { task, session } = await rewake.createTask("remember kiwi")
    await rewake.waitForRuns(session.id, 1)
    const point = arm(rewake, "deliver.committed")
    await rewake.append(task.id, "count 30 5")
    await point.reached()
    await rewake.restart()
    const log = await rewake.waitForRuns(session.id, 2)
    expect(endsOf(log)).toEqual(["run.completed", "run.completed"])
    expect(ofKind(log, "message.agent").at(-1)?.content).toBe(numbers(30))
    expect(heardByAgents(rewake)).toEqual(["remember kiwi", "count 30 5"])
  })

  test("[2] the server between its record and the hand-over of a picture: the next one hands it over once, as it was sent", async () => {
    rewake = await start({ armed: true, database })
    const { task, session } = await rewake.createTask("remember kiwi")
    await rewake.waitForRuns(session.id, 1)
    const picture = pictureOf(1_500_000)
    const shot = await attach(rewake, "shot.png", picture)
    const point = arm(rewake, "deliver.committed")
    await rewake.append(task.id, "look", { attachments: [shot.id] })
    await point.reached()
    await rewake.restart()
    const log = await rewake.waitForRuns(session.id, 2)
    expect(endsOf(log)).toEqual(["run.completed", "run.completed"])
    expect(ofKind(log, "message.agent").at(-1)?.content).toContain(`1500000 bytes, sha256 ${sha256(picture)}`)
    expect(heardByAgents(rewake)).toEqual(["remember kiwi", "look"])
  })

  test("[4] the server right after it took an answer: the answer reaches the agent, the same again is accepted, another is not", async () => {
    rewake = await start({ armed: true, database })
    const { session } = await rewake.createTask("ask Which way?")
    await rewake.waitForEvent(session.id, (event) => event.kind === "run.waiting", "the question")
    const [wait] = (await rewake.session(session.id)).waits
    const answer = (nth: number) =>
      rewake.api("POST", `/api/v1/sessions/${session.id}/waits/${wait?.token_id}`, {
        secret: wait?.secret,
        outcome: { kind: "selected", option_id: wait?.options[nth]?.id },
      })
    const point = arm(rewake, "answer.committed")
    await expect(answer(1)).rejects.toThrow()
    await point.reached()
    await rewake.restart()
    const log = await rewake.waitForRuns(session.id, 1)
    expect(endsOf(log)).toEqual(["run.completed"])
    expect(agentText(log)).toContain("You chose: The second way")
    expect(ofKind(log, "token.consumed")).toHaveLength(1)
    expect((await answer(1)).status).toBe(202)
    expect(await answer(0)).toMatchObject({ status: 409, body: { code: "RESUME_TOKEN_REJECTED", reason: "consumed" } })
  })
})

test.each(["claim.committed", "launch.spawned", "reconcile.spool_read", "interrupt.committed"] as const)(
  "[3] the server again, at %s of its recovery: still one interruption",
  async (name) => {
    rewake = await start({ armed: true })
    const { session } = await rewake.createTask("count 2000 20")
    await rewake.waitForEvent(session.id, (event) => event.kind === "message.delta" && event.content.includes("9"), "some numbers")
    await rewake.kill9()
    rewake.killDaemon()
    const point = arm(rewake, name)
    await rewake.boot().catch(() => {})
    await point.reached()
    await rewake.restart()
    const log = await rewake.waitForRuns(session.id, 1)
    expect(ofKind(log, "run.interrupted").map((event) => event.reason)).toEqual(["process_restart"])
    expect(endsOf(log)).toHaveLength(1)
    const view = await rewake.api<SessionView>("GET", `/api/v1/sessions/${session.id}`)
    expect(view.body.status).toBe("interrupted_startup")
  },
)

test.each([
  ["has not heard of the agent yet", "postgresql"],
  ["may have heard of the agent", "sqlite"],
] as const)(
  "[9] the server after a forgetful agent loaded its session, while the journal %s: the next one dismisses it",
  async (_, database) => {
    const folder = mkdtempSync(join(tmpdir(), "rewake-agents-"))
    const acp = { command: process.execPath, args: [resolve("tests/support/odd-agent.mjs"), "loads-nothing"] }
    writeFileSync(join(folder, "agents.json"), JSON.stringify([{ id: "odd", name: "Odd", acp }]))
    rewake = await start({ armed: true, database, env: { AGENTS_FILE: join(folder, "agents.json") } })
    const { task, session } = await rewake.createTask("remember kiwi", { agent: "odd" })
    const [started] = ofKind(await rewake.waitForRuns(session.id, 1), "agent.started")
    process.kill(started?.pid ?? 0, "SIGKILL")
    await rewake.waitForEvent(session.id, (event) => event.kind === "agent.exited", "the agent's end")

    const point = arm(rewake, "resume.agent_up")
    await rewake.append(task.id, "recall")
    await rewake.waitForEvent(session.id, (event) => event.kind === "resume.started", "the resume")
    // The agent takes two seconds to be judged as one that replays nothing; what it reports meanwhile cannot be written.
    const unlock = database === "postgresql" ? await lockSession(session.id) : async () => {}
    await point.reached()
    await unlock()
    await rewake.restart()
    const log = await rewake.waitForRuns(session.id, 2)
    rmSync(folder, { recursive: true })
    expect(ofKind(log, "agent.session_retired")).toMatchObject([
      { agent_session_id: "odd", reason: expect.stringContaining("nothing of the") },
    ])
    expect(ofKind(log, "recovery.receipt").map((receipt) => receipt.agent_memory)).toEqual(["none", "injected"])
    expect(ofKind(log, "message.agent").at(-1)?.content).toContain("[USER]: remember kiwi")
    expect(endsOf(log)).toEqual(["run.completed", "run.completed"])
  },
)

test("a forgetful agent that is given no history, dismissed by the next server, is started anew", async () => {
  const folder = mkdtempSync(join(tmpdir(), "rewake-agents-"))
  const acp = { command: process.execPath, args: [resolve("tests/support/odd-agent.mjs"), "loads-nothing"] }
  writeFileSync(join(folder, "agents.json"), JSON.stringify([{ id: "odd", name: "Odd", acp, history_context_injection: false }]))
  rewake = await start({ armed: true, env: { AGENTS_FILE: join(folder, "agents.json") } })
  const { session } = await rewake.createTask("remember kiwi", { agent: "odd" })
  const [started] = ofKind(await rewake.waitForRuns(session.id, 1), "agent.started")
  process.kill(started?.pid ?? 0, "SIGKILL")
  await rewake.waitForEvent(session.id, (event) => event.kind === "agent.exited", "the agent's end")
  const point = arm(rewake, "resume.agent_up")
  await rewake.api("POST", `/api/v1/sessions/${session.id}/resume`, {})
  await point.reached()
  await rewake.restart()
  const log = await rewake.waitForEvent(session.id, (event) => event.kind === "agent.started" && event.strategy === "idle", "the new agent")
  rmSync(folder, { recursive: true })
  expect(ofKind(log, "agent.session_retired")).toHaveLength(1)
  await waitUntil(async () => (await rewake.session(session.id)).state === "WAITING_FOR_INPUT", "the session to take messages")
})

/** Keeps the server from writing anything about a session, until the returned function is called. */
async function lockSession(sessionId: string): Promise<() => Promise<void>> {
  const client = new Client({ connectionString: rewake.database.url as string })
  await client.connect()
  await client.query("BEGIN")
  await client.query("SELECT id FROM sessions WHERE id = $1 FOR UPDATE", [sessionId])
  return () => client.end()
}

test("[1] a journal set back to a backup says which of the daemon's records it will never have", async () => {
  rewake = await start({ armed: true })
  const { task, session } = await rewake.createTask("remember kiwi")
  await rewake.waitForRuns(session.id, 1)
  await rewake.kill9()
  const file = join(rewake.dataDir, "rewake.db")
  const kept = ["", "-wal"].filter((part) => existsSync(file + part))
  for (const part of kept) copyFileSync(file + part, `${file}${part}.backup`)

  await rewake.boot()
  await rewake.append(task.id, "flood 900")
  await rewake.waitForRuns(session.id, 2)
  // The daemon cuts what was acknowledged once there is enough of it.
  const spool = join(rewake.dataDir, "sessions", `${session.id}.messages.jsonl`)
  const firstKept = () => (JSON.parse(readFileSync(spool, "utf8").split("\n", 1)[0] ?? "{}") as { first: number }).first
  await expect.poll(firstKept, { timeout: 20_000 }).toBeGreaterThan(100)
  await rewake.kill9()
  for (const part of ["", "-wal", "-shm"]) rmSync(file + part, { force: true })
  for (const part of kept) copyFileSync(`${file}${part}.backup`, file + part)

  await rewake.boot()
  const log = await rewake.waitForEvent(session.id, (event) => event.kind === "spool.gap", "the gap to be told")
  const [gap] = ofKind(log, "spool.gap")
  expect(gap?.to).toBe(firstKept() - 1)
  expect(gap?.from).toBeLessThan(firstKept())
  await rewake.append(task.id, "recall")
  const later = await rewake.waitForEvent(
    session.id,
    (event) => event.kind === "message.agent" && event.content.includes("I remember: kiwi"),
    "an answer after the gap",
  )
  expect(ofKind(later, "spool.gap")).toHaveLength(1)
  expect(later.map((event) => event.seq)).toEqual(later.map((_, i) => i + 1))
})

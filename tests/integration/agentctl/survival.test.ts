import { existsSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import type { DaemonSession, SpoolRecord } from "../../../lib/contracts/agentctl/protocol"
import { processStartTime } from "../../../lib/host/process-identity"
import { Daemon, newDataDir, oddAgent, spawnDaemon } from "../../support/daemon"
import { waitUntil } from "../../support/wait-until"

let dataDir: string
const running: Daemon[] = []
const start = async (...extra: string[]) => {
  const daemon = await Daemon.start(dataDir, extra)
  running.push(daemon)
  return daemon
}

beforeEach(() => {
  dataDir = newDataDir()
})
afterEach(async () => {
  for (const daemon of running.splice(0)) await daemon.kill()
  rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 })
})

const onDisk = (id: string): SpoolRecord[] =>
  readFileSync(join(dataDir, `sessions/${id}.messages.jsonl`), "utf8")
    .split("\n")
    .slice(1)
    .flatMap((line) => {
      try {
        return [JSON.parse(line) as SpoolRecord]
      } catch {
        return []
      }
    })

test("whatever was streamed before the daemon was killed is on disk, and its successor ends the agent and says so", async () => {
  const first = await start()
  const { agent } = await first.ready("sess_kill", oddAgent("ignores-sigterm"))
  await first.ready("sess_stream")
  const stream = first.events("sess_stream")
  await first.prompt("sess_stream", "prm_1", "count 100000 0")
  await stream.when(() => stream.records.length >= 50)
  await first.kill()
  await stream.end()
  expect(onDisk("sess_stream").slice(0, stream.records.length)).toEqual(stream.records)
  expect(processStartTime(agent.pid as number)).not.toBeNull()

  const second = await start()
  const after = second.events("sess_stream", stream.records.at(-1)?.n)
  expect(await after.until("agent.exited")).toMatchObject({ agent_execution_id: "exec_sess_stream", cause: "predecessor_died" })
  expect(after.kinds()).not.toContain("turn.failed")
  expect(await second.describe("sess_stream")).toMatchObject({ agent: null, run: null, head: after.records.at(-1)?.n })
  expect(await second.events("sess_kill").until("agent.exited")).toMatchObject({ cause: "predecessor_died" })
  expect(processStartTime(agent.pid as number)).toBeNull()
  const text = stream.text() + after.text()
  expect(text).toBe(Array.from({ length: text.split(" ").length }, (_, i) => i + 1).join(" "))
})

test("a prompt is delivered once: repeated, repeated at once, and repeated after the daemon was killed", async () => {
  const log = join(dataDir, "heard")
  const first = await start()
  const { spool_id } = await first.ready("sess_once", { ...oddAgent("plain"), env: { ODD_LOG: log } })
  const stream = first.events("sess_once")
  const answers = await Promise.all([1, 2, 3, 4].map(() => first.prompt("sess_once", "prm_1", "hello")))
  expect(answers.map((a) => a.body.duplicate).sort()).toEqual([false, true, true, true])
  await stream.until("turn.ended")
  expect((await first.prompt("sess_once", "prm_1", "hello")).body).toEqual({ accepted: true, duplicate: true })
  expect(await first.prompt("sess_once", "prm_1", "other text")).toMatchObject({ status: 409, body: { code: "PROMPT_MISMATCH" } })
  expect(await first.prompt("sess_once", "prm_2", "hello", { spool_id: "spool_other" })).toMatchObject({
    status: 409,
    body: { code: "SPOOL_MISMATCH", spool_id },
  })
  await first.kill()

  const second = await start()
  const again = { ...oddAgent("plain"), env: { ODD_LOG: log }, start: { kind: "continue", agent_session_id: "odd" } }
  expect((await second.putAgent("sess_once", "exec_2", again)).status).toBe(200)
  expect((await second.prompt("sess_once", "prm_1", "hello")).body).toEqual({ accepted: true, duplicate: true })
  const rest = second.events("sess_once", stream.records.at(-1)?.n)
  await second.prompt("sess_once", "prm_2", "hello again")
  await rest.until("turn.ended", (r) => r.prompt_id === "prm_2")
  expect(
    readFileSync(log, "utf8")
      .split("\n")
      .filter((m) => m === "session/prompt"),
  ).toHaveLength(2)
})

test("a prompt that finds no agent, or a busy one, is not used up", async () => {
  const daemon = await start()
  await daemon.putSession("sess_free")
  expect((await daemon.prompt("sess_free", "prm_1", "hang")).body).toMatchObject({ code: "AGENT_NOT_RUNNING" })
  await daemon.putAgent("sess_free", "exec_1")
  expect((await daemon.prompt("sess_free", "prm_1", "hang")).body).toEqual({ accepted: true, duplicate: false })
  expect((await daemon.prompt("sess_free", "prm_2", "recall")).body).toMatchObject({ code: "AGENT_BUSY" })
  const stream = daemon.events("sess_free")
  await stream.until("message.delta")
  await daemon.call("POST", "/sessions/sess_free/cancel", { body: { run_id: "run_prm_1" } })
  await stream.until("turn.ended")
  expect((await daemon.prompt("sess_free", "prm_2", "recall")).body).toEqual({ accepted: true, duplicate: false })
})

test("an agent remembers after its daemon was killed, and its old words are not told twice", async () => {
  const first = await start()
  const { agent } = await first.ready("sess_memory")
  const stream = first.events("sess_memory")
  await first.prompt("sess_memory", "prm_1", "remember apple")
  await stream.until("turn.ended")
  await first.kill()
  const second = await start()
  const continued = await second.putAgent("sess_memory", "exec_2", {
    start: { kind: "continue", agent_session_id: agent.agent_session_id },
  })
  expect(continued.body).toMatchObject({
    strategy: "resumed",
    agent_session_id: agent.agent_session_id,
    capabilities: { load: true, resume: true },
  })
  const rest = second.events("sess_memory", stream.records.at(-1)?.n)
  await second.prompt("sess_memory", "prm_2", "recall")
  await rest.until("turn.ended")
  expect(rest.text()).toBe("I remember: apple")
  expect(rest.kinds().filter((k) => k === "message.delta")).toHaveLength(1)
})

test("history put in front of a prompt is what demo-inject remembers, and demo-forgetful knows nothing", async () => {
  const daemon = await start()
  const injected = [
    "RESUME CONTEXT FOR CONTINUING TASK",
    "",
    "=== EXECUTION HISTORY ===",
    "[USER]: remember pear",
    "[ASSISTANT]: I will remember pear.",
    "[USER]: remember plum",
    "",
    "=== CURRENT REQUEST ===",
    "recall",
    "",
    "=== INSTRUCTIONS ===",
    "You are continuing work on the above task.",
  ].join("\n")
  for (const [variant, expected] of [
    ["demo-inject", "I remember: pear, plum"],
    ["demo-forgetful", "I am the demo agent"],
  ] as const) {
    const id = `sess_${variant}`
    await daemon.ready(id, { variant })
    const stream = daemon.events(id)
    await daemon.prompt(id, "prm_1", injected)
    await stream.until("turn.ended")
    expect(stream.text()).toContain(expected)
  }
})

test("a server whose epoch is over changes nothing, also after the daemon was started anew", async () => {
  const first = await start()
  await first.putSession("sess_fence")
  const ack = (daemon: Daemon, epoch: number | null, spool_id: string) =>
    daemon.call("PUT", "/sessions/sess_fence/ack", { epoch, body: { spool_id, n: 0 } })
  const { spool_id } = await first.describe("sess_fence")
  expect((await ack(first, 7, spool_id)).status).toBe(200)
  expect(await ack(first, 6, spool_id)).toMatchObject({ status: 409, body: { code: "FENCED", epoch: 7 } })
  expect((await ack(first, null, spool_id)).body).toMatchObject({ code: "INVALID_INPUT" })
  await first.kill()
  const second = await start()
  expect((await ack(second, 6, spool_id)).body).toMatchObject({ code: "FENCED" })
  expect((await second.call("DELETE", "/sessions/sess_fence", { epoch: 6 })).body).toMatchObject({ code: "FENCED" })
  expect((await ack(second, 7, spool_id)).status).toBe(200)
})

test("a session given up by a person: its agent is ended, and lower generations are refused for ever", async () => {
  const first = await start()
  await first.ready("sess_given_up")
  const stream = first.events("sess_given_up")
  await first.prompt("sess_given_up", "prm_1", "count 1000 50")
  await stream.until("message.delta")
  const raise = (daemon: Daemon, generation: number) =>
    daemon.call<DaemonSession>("PUT", "/sessions/sess_given_up/generation", { body: { generation } })
  expect((await raise(first, 2)).body).toMatchObject({ generation: 2, agent: { state: "exited" }, run: null })
  await stream.until("turn.failed")
  await first.kill()
  const second = await start()
  expect(await raise(second, 1)).toMatchObject({ status: 409, body: { code: "GENERATION_STALE", generation: 2 } })
  const workspace = { kind: "folder", path: join(dataDir, "workspaces", "sess_given_up") }
  const put = (generation: number) => second.call("PUT", "/sessions/sess_given_up", { body: { generation, workspace } })
  expect((await put(1)).body).toMatchObject({ code: "GENERATION_STALE" })
  expect((await put(2)).body).toMatchObject({ generation: 2 })
})

test("a second daemon on the same folder refuses with its own exit code and leaves the first alone", async () => {
  const first = await start()
  const second = spawnDaemon(dataDir)
  let words = ""
  second.stderr?.on("data", (bytes) => {
    words += bytes
  })
  const code = await new Promise((resolve) => second.once("close", resolve))
  expect(code).toBe(3)
  expect(words.trim().split("\n")).toHaveLength(1)
  expect((await first.call("GET", "/health")).body).toMatchObject({ instance_id: first.file.instance_id, pid: first.file.pid })
})

test("a shutdown ends the agents politely, leaves open turns to the server, and takes the address down", async () => {
  const daemon = await start()
  const { agent } = await daemon.ready("sess_down")
  const stream = daemon.events("sess_down")
  await daemon.prompt("sess_down", "prm_1", "hang")
  await stream.until("message.delta")
  const gone = new Promise((resolve) => daemon.child.once("exit", resolve))
  expect((await daemon.call("POST", "/shutdown", { body: {} })).status).toBe(200)
  expect(await gone).toBe(0)
  expect(processStartTime(agent.pid as number)).toBeNull()
  expect(existsSync(join(dataDir, "run/agentctl.json"))).toBe(false)
  const kinds = onDisk("sess_down").map((r) => r.kind)
  expect(kinds.at(-1)).toBe("agent.exited")
  expect(kinds).not.toContain("turn.failed")
})

test("a daemon no server speaks to ends itself", async () => {
  const daemon = await start("--orphan-hours", "0.0003")
  expect(await new Promise((resolve) => daemon.child.once("exit", resolve))).toBe(0)
})

test("one session whose spool cannot be opened holds up neither the others nor the daemon's start", async () => {
  const first = await start()
  await first.ready("sess_bad")
  await first.ready("sess_good")
  await first.kill()
  const spool = join(dataDir, "sessions/sess_bad.messages.jsonl")
  const kept = readFileSync(spool)
  rmSync(spool)
  symlinkSync(spool, spool)
  const second = await start()
  expect(await second.events("sess_good").until("agent.exited")).toMatchObject({ cause: "predecessor_died" })
  expect((await second.call("GET", "/sessions/sess_bad")).status).toBe(500)
  const listed = (await second.call<{ session_id: string }[]>("GET", "/sessions")).body
  expect(listed.map((s) => s.session_id)).toEqual(["sess_good"])
  // Its records were left alone: they are there again with the file.
  rmSync(spool)
  writeFileSync(spool, kept)
  expect((await second.call("GET", "/sessions/sess_bad")).status).toBe(200)
})

test("the published file is for its owner only, and the log holds neither prompts nor the secret", async () => {
  const daemon = await start()
  expect(statSync(join(dataDir, "run/agentctl.json")).mode & 0o777).toBe(0o600)
  await daemon.ready("sess_log", { env: { API_KEY: "very-private" } })
  const stream = daemon.events("sess_log")
  await daemon.prompt("sess_log", "prm_1", "remember hush-hush")
  await stream.until("turn.ended")
  const log = await waitUntil(() => readFileSync(join(dataDir, "logs/agentctl.log"), "utf8"), "the log")
  for (const hidden of [daemon.file.secret, "hush-hush", "very-private"]) expect(log).not.toContain(hidden)
})

test("an agent's end that is on disk already is not told again by a successor that finds it in the session's facts", async () => {
  const first = await start()
  await first.ready("sess_end")
  const facts = join(dataDir, "sessions/sess_end.state.json")
  const whileUp = readFileSync(facts)
  const stream = first.events("sess_end")
  await first.prompt("sess_end", "prm_1", "crash")
  await stream.until("agent.exited")
  await stream.end()
  await first.kill()
  // As if it had been killed between the two files.
  writeFileSync(facts, whileUp)

  const second = await start()
  await second.ready("sess_end", { start: { kind: "new" } })
  const exits = onDisk("sess_end").filter((record) => record.kind === "agent.exited")
  expect(exits).toMatchObject([{ cause: "exited" }])
})

test("an agent whose coming up never reached the spool is ended without a word: there is no end without a beginning", async () => {
  const first = await start()
  await first.ready("sess_begin")
  await first.kill()
  const spool = join(dataDir, "sessions/sess_begin.messages.jsonl")
  const header = readFileSync(spool, "utf8").split("\n")[0]
  writeFileSync(spool, `${header}\n`)
  const second = await start()
  expect(await second.describe("sess_begin")).toMatchObject({ agent: null, head: 0 })
  expect(onDisk("sess_begin")).toEqual([])
})

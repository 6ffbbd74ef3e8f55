import { createHash } from "node:crypto"
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { SpoolRecord } from "../../../lib/contracts/agentctl/protocol"
import { type EventStream, oddAgent } from "../../support/daemon"
import { useDaemon } from "../../support/use-daemon"

const daemon = useDaemon({ per: "file", end: "stop" })

/** What the agent said to one prompt. */
async function say(id: string, stream: EventStream, promptId: string, text: string): Promise<string> {
  const before = stream.text()
  await daemon.prompt(id, promptId, text)
  await stream.until("turn.ended", (r) => r.prompt_id === promptId)
  return stream.text().slice(before.length)
}

test("lines that are no protocol are passed over, before and during a turn", async () => {
  await daemon.ready("sess_garbage", oddAgent("garbage"))
  const stream = daemon.events("sess_garbage")
  expect(await say("sess_garbage", stream, "prm_1", "garbage")).toBe("still here")
})

test("a command that does not exist is said to be missing, and the session can try another", async () => {
  await daemon.putSession("sess_missing")
  const missing = await daemon.putAgent("sess_missing", "exec_1", { command: "no-such-agent", args: [] })
  expect(missing).toMatchObject({ status: 422, body: { code: "AGENT_COMMAND_NOT_FOUND" } })
  expect((await daemon.putAgent("sess_missing", "exec_1", { command: "no-such-agent", args: [] })).body).toEqual(missing.body)
  expect((await daemon.putAgent("sess_missing", "exec_2")).status).toBe(200)
})

test("an agent that ends before it is ready fails to start with its last words", async () => {
  await daemon.putSession("sess_exits")
  const { body } = await daemon.putAgent("sess_exits", "exec_1", oddAgent("exits"))
  expect(body.code).toBe("AGENT_START_FAILED")
  expect(body.message).toContain("code 4")
  expect(body.message).toContain("no licence found")
  expect(await daemon.describe("sess_exits")).toMatchObject({ head: 0, agent: { state: "exited" } })
})

test("an agent that never answers can be stopped while it is starting", async () => {
  await daemon.putSession("sess_silent")
  const starting = daemon.putAgent("sess_silent", "exec_1", oddAgent("silent"))
  await expect.poll(async () => (await daemon.describe("sess_silent")).agent?.pid ?? null).not.toBeNull()
  expect((await daemon.putAgent("sess_silent", "exec_2")).body).toMatchObject({ code: "AGENT_BUSY" })
  await daemon.call("DELETE", "/sessions/sess_silent/agent")
  expect((await starting).body).toMatchObject({ code: "AGENT_START_FAILED" })
})

test("an agent that is signed out fails to start, and its session id is not blamed", async () => {
  await daemon.putSession("sess_auth")
  const { body } = await daemon.putAgent("sess_auth", "exec_1", oddAgent("signed-out"))
  expect(body).toMatchObject({ code: "AGENT_START_FAILED" })
  expect(body.message).toContain("Authentication required")
})

test("a rejected session id is reported with the agent's own error, and nothing else is started instead", async () => {
  await daemon.putSession("sess_rejects")
  const start = { kind: "continue", agent_session_id: "gone" }
  const { body } = await daemon.putAgent("sess_rejects", "exec_1", { ...oddAgent("rejects"), start })
  expect(body.code).toBe("AGENT_SESSION_REJECTED")
  expect(body.message).toContain("no rollout found")
  expect(await daemon.describe("sess_rejects")).toMatchObject({ head: 0, agent: { state: "exited", pid: null } })
  const demo = await daemon.putAgent("sess_rejects", "exec_2", { start })
  expect(demo.body).toMatchObject({ code: "AGENT_SESSION_REJECTED" })
  expect(demo.body.message).toContain("-32002")
  const unable = await daemon.putAgent("sess_rejects", "exec_3", { start, variant: "demo-inject" })
  expect(unable.body).toMatchObject({ code: "AGENT_SESSION_REJECTED" })
})

test("an agent that destroys its session file by loading it is ended, and the file is as it was", async () => {
  await daemon.putSession("sess_destroys")
  const path = join(daemon.dataDir, "own.jsonl")
  const text = `${JSON.stringify({ said: "a long conversation" })}\n{"torn`
  writeFileSync(path, text)
  const start = { kind: "continue", agent_session_id: "odd" }
  const files = { session_files: [{ path, as: "own.jsonl" }], env: { ODD_FILE: path } }
  const { body } = await daemon.putAgent("sess_destroys", "exec_1", { ...oddAgent("destroys"), ...files, start })
  expect(body.code).toBe("AGENT_SESSION_REJECTED")
  expect(body.message).toContain("its last line is torn")
  expect(body.message).toContain("put back as it was")
  expect(readFileSync(path, "utf8")).toBe(text)
  const loaded = await daemon.putAgent("sess_destroys", "exec_2", { ...oddAgent("loads"), ...files, start })
  expect(loaded.body).toMatchObject({ strategy: "loaded", transcript_findings: ["own.jsonl: its last line is torn"] })
})

test("what an agent replays while it loads is history and is not recorded again, also when it trails behind", async () => {
  const start = { kind: "continue", agent_session_id: "odd" }
  const { agent } = await daemon.ready("sess_loads", { ...oddAgent("loads"), start })
  expect(agent).toMatchObject({ strategy: "loaded", agent_session_id: "odd" })
  const stream = daemon.events("sess_loads")
  await stream.when(() => stream.records.some((record) => record.kind === "agent.setup_announced" && record.setup.commands.length > 0))
  expect(await say("sess_loads", stream, "prm_1", "hello")).toBe("heard hello")
  expect(stream.kinds()).not.toContain("tool.call")
  expect(stream.text()).toBe("heard hello")
})

test("a permission asked for while loading is never granted", async () => {
  const start = { kind: "continue", agent_session_id: "odd" }
  await daemon.ready("sess_asks", { ...oddAgent("asks-while-loading"), start })
  expect(await daemon.describe("sess_asks")).toMatchObject({ pending_permissions: [] })
})

test("an update of an unknown kind is kept as it came", async () => {
  await daemon.ready("sess_news", oddAgent("plain"))
  const stream = daemon.events("sess_news")
  await say("sess_news", stream, "prm_1", "news")
  expect(stream.find("agent.update")).toMatchObject({ run_id: "run_prm_1", update: { sessionUpdate: "shiny_new_kind", payload: { a: 1 } } })
})

test("an agent's error fails the turn and leaves the agent ready", async () => {
  await daemon.ready("sess_error", oddAgent("plain"))
  const stream = daemon.events("sess_error")
  await daemon.prompt("sess_error", "prm_1", "error")
  const failed = await stream.until("turn.failed")
  expect(failed).toMatchObject({ reason: "agent_error", run_id: "run_prm_1" })
  expect(failed.message).toContain("model overloaded")
  expect(await say("sess_error", stream, "prm_2", "hello")).toBe("heard hello")
})

const rejectedBytes = async (id: string, sha256: string) => {
  const { endpoint, secret } = daemon.file
  const answer = await fetch(`${endpoint}/sessions/${id}/rejected/${sha256}`, { headers: { authorization: `Bearer ${secret}` } })
  return { status: answer.status, bytes: Buffer.from(await answer.arrayBuffer()) }
}
const sha256Of = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex")

test.each([
  ["deep", 40_000],
  ["line", 17 * 1024 * 1024],
  ["huge", 9 * 1024 * 1024],
])("%s: what cannot be journalled is named, kept as it came, and the agent goes on", async (command, least) => {
  const id = `sess_${command}`
  await daemon.ready(id, oddAgent("plain"))
  const stream = daemon.events(id)
  expect(await say(id, stream, "prm_1", command)).toBe("sent")
  const { sha256 = "", kept } = stream.find("record.rejected") ?? {}
  expect(kept).toBe(true)
  const { status, bytes } = await rejectedBytes(id, sha256)
  expect(status).toBe(200)
  expect(bytes.length).toBeGreaterThan(least)
  expect(sha256Of(bytes)).toBe(sha256)
  expect(await say(id, stream, "prm_2", "hello")).toBe("heard hello")
  for (const record of stream.records) SpoolRecord.parse(record)
  expect(await rejectedBytes(id, "0".repeat(64))).toMatchObject({ status: 404 })
  expect(await rejectedBytes(id, "..%2F..%2Fx")).toMatchObject({ status: 400 })
  await daemon.call("DELETE", `/sessions/${id}?generation=1`)
  expect(readdirSync(join(daemon.dataDir, "sessions")).filter((name) => name.startsWith(`${id}.`))).toEqual([])
})

test("a message is four megabytes long; its rest is named and kept", async () => {
  await daemon.ready("sess_long", oddAgent("plain"))
  const stream = daemon.events("sess_long")
  const said = await say("sess_long", stream, "prm_1", "long")
  expect(said).toHaveLength(4 * 1024 * 1024)
  expect(said.at(-1)).toBe("3")
  const { sha256 = "", reason, kept } = stream.find("record.rejected") ?? {}
  expect({ reason, kept }).toEqual({ reason: "the last 2097152 bytes of a message that is too long", kept: true })
  const { bytes } = await rejectedBytes("sess_long", sha256)
  expect(bytes.toString()).toBe("4".repeat(1024 * 1024) + "5".repeat(1024 * 1024))
})

test("files outside the workspace are refused, by any path and by any link", async () => {
  await daemon.ready("sess_fs", oddAgent("plain"))
  const workspace = join(daemon.dataDir, "workspaces/sess_fs")
  const secret = join(daemon.dataDir, "secret.txt")
  writeFileSync(secret, "secret")
  symlinkSync(secret, join(workspace, "link.txt"))
  symlinkSync(daemon.dataDir, join(workspace, "door"))
  symlinkSync(join(daemon.dataDir, "not-yet.txt"), join(workspace, "dangling.txt"))
  mkdirSync(join(workspace, "inside"))
  writeFileSync(join(workspace, "inside/a.txt"), "1\n2\n3\n4")
  symlinkSync("inside", join(workspace, "alias"))
  const stream = daemon.events("sess_fs")
  let count = 0
  const ask = (text: string) => say("sess_fs", stream, `prm_${++count}`, text).then((answer) => JSON.parse(answer))
  for (const path of [secret, `${workspace}/../../secret.txt`, `${workspace}/link.txt`, `${workspace}/door/secret.txt`, "/etc/passwd"]) {
    expect((await ask(`read ${path}`)).error.message).toContain("outside the workspace")
  }
  for (const path of [`${workspace}/link.txt`, `${workspace}/door/new.txt`, `${workspace}/dangling.txt`, `${workspace}/../new.txt`]) {
    expect((await ask(`write ${path}`)).error.message).toContain("outside the workspace")
  }
  expect(readFileSync(secret, "utf8")).toBe("secret")
  expect(existsSync(join(daemon.dataDir, "not-yet.txt"))).toBe(false)
  expect(await ask(`read ${workspace}/alias/a.txt 2 2`)).toEqual({ result: { content: "2\n3" } })
  expect(await ask(`write ${workspace}/alias/deep/b.txt`)).toEqual({ result: {} })
  expect(readFileSync(join(workspace, "inside/deep/b.txt"), "utf8")).toBe("changed")
  expect((await ask(`read ${workspace}/nothing.txt`)).error.code).toBe(-32002)
})

test("a terminal's output is cut on whole characters, and shown in the tool call that embeds it", async () => {
  await daemon.ready("sess_term", oddAgent("plain"))
  const stream = daemon.events("sess_term")
  const answer = JSON.parse(await say("sess_term", stream, "prm_1", "terminal printf 'ab€€€'; exit 3"))
  expect(answer).toEqual({
    exit: { exitCode: 3, signal: null },
    output: { output: "€€", truncated: true, exitStatus: { exitCode: 3, signal: null } },
  })
  // The command may have ended before the agent showed it, or after.
  const shown = await stream.when(
    () =>
      stream.records.flatMap((r) => ("output" in r ? (r.output ?? []) : [])).find((o) => "exit_code" in o && o.exit_code !== null) ?? null,
  )
  expect(shown).toMatchObject({ type: "terminal", output: "ab€€€", exit_code: 3 })
})

import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { SessionSetup } from "../../lib/contracts/agent-setup"
import { ofKind } from "../support/events"
import { Rewake } from "../support/server"
import { waitUntil } from "../support/wait-until"

describe("what can be set about an agent", () => {
  let rewake: Rewake
  let folder: string
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "rewake-agents-"))
    const odd = (mode: string) => ({
      id: mode,
      name: mode,
      acp: { command: process.execPath, args: [resolve("tests/support/odd-agent.mjs"), mode] },
    })
    writeFileSync(join(folder, "agents.json"), JSON.stringify([odd("loses-modes"), odd("signed-out")]))
    rewake = await Rewake.start({ env: { AGENTS_FILE: join(folder, "agents.json") } })
  })
  afterAll(async () => {
    await rewake?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const setup = async (id: string) => (await rewake.api<SessionSetup>("GET", `/api/v1/sessions/${id}/setup`)).body
  const choose = (id: string, options: Record<string, unknown>) =>
    rewake.api<SessionSetup & { issues?: string[] }>("PATCH", `/api/v1/sessions/${id}/setup`, { options })
  const inForce = async (id: string) => Object.fromEntries((await setup(id)).options.map((option) => [option.id, option.current]))
  const settled = async (id: string, values: Record<string, unknown>) => {
    await waitUntil(async () => Object.keys((await setup(id)).pending).length === 0, "the agent to be told")
    await waitUntil(async () => Object.entries(await inForce(id)).every(([key, value]) => values[key] === value), "its word")
  }
  const killAgent = async (id: string) => {
    const started = ofKind(await rewake.events(id), "agent.started").at(-1)
    process.kill(started?.pid ?? 0, "SIGKILL")
    await rewake.waitForEvent(
      id,
      (event) => event.kind === "agent.exited" && event.agent_execution_id === started?.agent_execution_id,
      "its end",
    )
  }
  const lastAnswer = async (id: string) => ofKind(await rewake.events(id), "message.agent").at(-1)?.content

  test("options and commands are told as the agent tells them, and its usage after a turn", async () => {
    const { session } = await rewake.createTask("remember pear")
    await rewake.waitForRuns(session.id, 1)
    const told = await waitUntil(async () => {
      const now = await setup(session.id)
      return now.usage && now.commands.length > 0 ? now : null
    }, "usage and commands")
    expect(told.options).toMatchObject([
      { id: "mode", type: "select", category: "mode", current: "ask", choices: [{ value: "ask" }, { value: "auto" }, { value: "plan" }] },
      { id: "aloud", type: "boolean", current: false },
    ])
    expect(told.commands).toContainEqual({ name: "remember", description: "Keep a word in my memory", hint: "WORD" })
    expect(told.usage).toMatchObject({ size: 8192, cost: null })
    expect(told.usage?.used).toBeGreaterThan(0)
    expect(told).toMatchObject({ pending: {}, sign_in: null })
  })

  test("what is told of usage and commands while a message is being said does not cut the message in two", async () => {
    const { session } = await rewake.createTask("aside", { agent: "loses-modes" })
    const log = await rewake.waitForRuns(session.id, 1)
    expect(ofKind(log, "message.delta").length).toBeGreaterThan(1)
    expect(ofKind(log, "message.agent").map(({ content }) => content)).toEqual(["one two"])
    expect(ofKind(log, "agent.usage_reported")).toMatchObject([{ usage: { used: 5, size: 100 } }])
    expect((await setup(session.id)).commands.map(({ name }) => name)).toEqual(["mid"])
  })

  test("a mode is set at once, is in force in the next turn, and is set again in an agent that was killed", async () => {
    const { task, session } = await rewake.createTask("remember plum")
    await rewake.waitForRuns(session.id, 1)
    expect(await choose(session.id, { mode: "plan", aloud: true })).toMatchObject({ status: 202, body: { pending: { mode: "plan" } } })
    await settled(session.id, { mode: "plan", aloud: true })
    await rewake.append(task.id, "write notes.txt hello")
    await rewake.waitForRuns(session.id, 2)
    expect(await lastAnswer(session.id)).toBe("I am in plan mode and change nothing.")

    await killAgent(session.id)
    await rewake.append(task.id, "write notes.txt hello")
    const log = await rewake.waitForRuns(session.id, 3)
    expect(ofKind(log, "agent.started").map((event) => event.strategy)).toEqual(["new", "resumed"])
    expect(await lastAnswer(session.id)).toBe("I am in plan mode and change nothing.")
    expect(ofKind(log, "message.thought").at(-1)?.content).toBe("Let me see what is asked of me.")
    expect(ofKind(log, "recovery.receipt").at(-1)?.attempts).toEqual([{ strategy: "native", outcome: "ok" }])
  })

  test("an agent of the older kind, which has modes, and no memory of its own, is set again as well, after everything was killed", async () => {
    const { task, session } = await rewake.createTask("remember quince", { agent: "demo-inject" })
    await rewake.waitForRuns(session.id, 1)
    expect(await inForce(session.id)).toEqual({ "@mode": "ask" })
    await choose(session.id, { "@mode": "plan" })
    await settled(session.id, { "@mode": "plan" })
    rewake.killDaemon()
    await rewake.restart()
    await rewake.append(task.id, "run touch file")
    await rewake.waitForRuns(session.id, 2)
    expect(await lastAnswer(session.id)).toBe("I am in plan mode and change nothing.")
    expect(await inForce(session.id)).toEqual({ "@mode": "plan" })
  })

  test("a choice made while the agent sleeps outlives the server and is in force before the first message", async () => {
    const { task, session } = await rewake.createTask("remember fig")
    await rewake.waitForRuns(session.id, 1)
    await rewake.api("POST", `/api/v1/sessions/${session.id}/stop`)
    await rewake.waitForEvent(session.id, (event) => event.kind === "agent.exited", "its end")
    await choose(session.id, { mode: "auto" })
    expect((await setup(session.id)).pending).toEqual({ mode: "auto" })
    await rewake.restart()
    expect((await setup(session.id)).pending).toEqual({ mode: "auto" })
    await rewake.append(task.id, "run echo done")
    const log = await rewake.waitForRuns(session.id, 2)
    // Nobody was asked.
    expect(ofKind(log, "run.waiting")).toEqual([])
    expect(ofKind(log, "agent.options_settled")).toMatchObject([{ options: { mode: "auto" }, refused: [] }])
    expect(await setup(session.id)).toMatchObject({ pending: {} })
  })

  test("what is not offered is refused by name, and nothing is written", async () => {
    const { session } = await rewake.createTask("remember kiwi")
    const before = await rewake.waitForRuns(session.id, 1)
    expect(await choose(session.id, { mode: "reckless" })).toMatchObject({ status: 400, body: { code: "INVALID_INPUT" } })
    expect((await choose(session.id, { colour: "red" })).body.issues).toEqual(["options.colour: The agent does not offer this option."])
    expect((await choose(session.id, {})).status).toBe(400)
    expect((await choose(session.id, { mode: true })).status).toBe(400)
    expect(ofKind(await rewake.events(session.id), "agent.options_chosen")).toEqual(ofKind(before, "agent.options_chosen"))
  })

  test("a mode that the agent has lost is told in the receipt, and shown as it is", async () => {
    const { task, session } = await rewake.createTask("hello", { agent: "loses-modes" })
    await rewake.waitForRuns(session.id, 1)
    await choose(session.id, { "@mode": "careful" })
    await settled(session.id, { "@mode": "careful" })
    await killAgent(session.id)
    await rewake.append(task.id, "again")
    const log = await rewake.waitForRuns(session.id, 2)
    expect(ofKind(log, "recovery.receipt").at(-1)).toMatchObject({
      agent_memory: "native",
      attempts: [{ outcome: "ok", notes: ["Mode could not be set to careful: The agent does not offer this choice."] }],
    })
    expect(await inForce(session.id)).toEqual({ "@mode": "bold" })
  })

  test("an agent that is not signed in names its ways; one that fails says why, one that works delivers the message that waited", async () => {
    const { session } = await rewake.createTask("hello", { agent: "signed-out" })
    await waitUntil(async () => (await rewake.session(session.id)).state === "ERROR", "the refusal")
    expect((await setup(session.id)).sign_in).toMatchObject({
      message: expect.stringContaining("Authentication required"),
      methods: [
        { id: "key", name: "API key", description: "A key of your own", command_line: null },
        { id: "browser", command_line: null },
        { id: "cli", command_line: expect.stringMatching(/node.* .*odd-agent.mjs.* .*login/) },
      ],
    })
    const resume = (sign_in: string) => rewake.api("POST", `/api/v1/sessions/${session.id}/resume`, { sign_in })
    expect((await resume("browser")).status).toBe(202)
    const failed = await rewake.waitForEvent(
      session.id,
      (event) => event.kind === "resume.failed" && event.reason.includes("the browser was closed"),
      "the failed sign-in",
    )
    expect(ofKind(failed, "resume.failed").filter(({ reason }) => reason.includes("browser"))).toHaveLength(1)
    expect((await setup(session.id)).sign_in).not.toBeNull()

    // Nobody comes to the browser that it opened: a person takes it back, and is not kept waiting.
    expect((await resume("patience")).status).toBe(202)
    await waitUntil(async () => (await rewake.session(session.id)).state === "STARTING", "the sign-in under way")
    await waitUntil(async () => {
      await rewake.api("POST", `/api/v1/sessions/${session.id}/cancel`)
      return (await rewake.session(session.id)).state === "ERROR"
    }, "the sign-in to be given up")

    expect((await resume("key")).status).toBe(202)
    const log = await rewake.waitForRuns(session.id, 1)
    expect(ofKind(log, "message.agent").map(({ content }) => content)).toEqual(["heard hello"])
    expect((await setup(session.id)).sign_in).toBeNull()
  })

  test("MCP servers are given with a conversation, and again when it is taken up; their keys are nowhere", async () => {
    const key = "planted-mcp-key-4711"
    const server = { transport: "stdio", command: "mcp-notes", args: ["--quiet"] }
    const put = (name: string, body: unknown) => rewake.api("PUT", `/api/v1/admin/mcp-servers/${name}`, body)
    expect((await put("notes", { server, values: { NOTES_KEY: key } })).status).toBe(204)
    expect((await put("far", { server: { transport: "http", url: "https://mcp.example.org/" }, values: {} })).status).toBe(204)
    expect((await put("bad", { server: { transport: "http", url: "file:///etc/passwd" } })).status).toBe(400)
    const listed = await rewake.api("GET", "/api/v1/admin/mcp-servers")
    expect(listed.body).toEqual({
      items: [
        { name: "far", transport: "http", url: "https://mcp.example.org/", secrets: [] },
        { name: "notes", ...server, secrets: ["NOTES_KEY"] },
      ],
    })
    const { task, session } = await rewake.createTask("mcp")
    await rewake.waitForRuns(session.id, 1)
    expect(await lastAnswer(session.id)).toBe("I was given these MCP servers: notes")
    // The demo agent takes programs only; what it was not given is said.
    expect((await setup(session.id)).mcp_servers).toEqual([
      { name: "far", given: false },
      { name: "notes", given: true },
    ])
    await killAgent(session.id)
    await rewake.append(task.id, "mcp")
    await rewake.waitForRuns(session.id, 2)
    expect(await lastAnswer(session.id)).toBe("I was given these MCP servers: notes")
    for (const name of ["notes", "far"]) expect((await rewake.api("DELETE", `/api/v1/admin/mcp-servers/${name}`)).status).toBe(204)
    expect((await rewake.api("DELETE", "/api/v1/admin/mcp-servers/far")).status).toBe(404)
    expect(JSON.stringify(await rewake.events(session.id)) + rewake.output).not.toContain(key)
    expect(filesWith(rewake.dataDir, key)).toEqual([])
  })
})

function filesWith(folder: string, text: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => resolve(entry.parentPath, entry.name))
    .filter((path) => readFileSync(path).includes(text))
    .map((path) => path.slice(join(folder, "/").length))
}

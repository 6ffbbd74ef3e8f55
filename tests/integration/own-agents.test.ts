import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { AgentInfo, AgentSettings } from "../../lib/contracts/agents"
import type { EventOf, SessionEvent } from "../../lib/contracts/events"
import { ofKind } from "../support/events"
import { archiveTask } from "../support/expiry"
import { agentText, DATABASES, Rewake } from "../support/server"

const KEY = `sk-planted-${"7f3c9a1e".repeat(4)}`
const demo = `exec "${process.execPath}" "${resolve("dist/programs/demo-agent.mjs")}" --variant demo`

describe.each(DATABASES)("agents of one's own, on %s", (database) => {
  let rewake: Rewake
  /** Outside the data folder: what the agent itself writes here is not what Rewake keeps. */
  let outside: string
  beforeAll(async () => {
    outside = mkdtempSync(join(tmpdir(), "rewake-outside-"))
    const file = join(outside, "agents.json")
    writeFileSync(file, JSON.stringify([{ id: "from-file", name: "From a file", acp: { command: "sh", args: ["-c", demo] } }]))
    rewake = await Rewake.start({ database, env: { AGENTS_FILE: file } })
  })
  afterAll(async () => {
    await rewake?.stop()
    rmSync(outside, { recursive: true, force: true })
  })

  const agents = async () => (await rewake.api<{ items: AgentInfo[] }>("GET", "/api/v1/agents")).body.items
  const settings = async () => (await rewake.api<{ items: AgentSettings[] }>("GET", "/api/v1/admin/agents")).body.items
  const add = (id: string, script: string) =>
    rewake.api("POST", "/api/v1/admin/agents", { id, name: id, acp: { command: "sh", args: ["-c", script] } })
  const started = (log: readonly SessionEvent[]) => ofKind(log, "agent.started")

  test("one of the configuration file works like any other, and what it can do is what it answered", async () => {
    expect((await agents()).find(({ id }) => id === "from-file")).toMatchObject({
      available: true,
      custom: true,
      comes_back_by: "declared",
    })
    const { session } = await rewake.createTask("remember plum", { agent: "from-file" })
    await rewake.waitForRuns(session.id, 1)
    expect((await agents()).find(({ id }) => id === "from-file")).toMatchObject({ comes_back: "native", comes_back_by: "observed" })
    await rewake.restart()
    expect((await agents()).find(({ id }) => id === "from-file")).toMatchObject({ comes_back: "native", comes_back_by: "observed" })
  })

  test("an admin adds one, changes it and removes it; its sessions stay readable and are not started any more", async () => {
    expect((await add("mine", demo)).status).toBe(204)
    expect((await add("mine", demo)).status).toBe(409)
    expect((await add("codex", demo)).status).toBe(409)
    const { task, session } = await rewake.createTask("remember fig", { agent: "mine" })
    await rewake.waitForRuns(session.id, 1)
    const changed = { id: "mine", name: "Mine, renamed", acp: { command: "sh", args: ["-c", demo] } }
    expect((await rewake.api("PUT", "/api/v1/admin/agents/mine", changed)).status).toBe(204)
    expect((await settings()).find(({ id }) => id === "mine")).toMatchObject({ name: "Mine, renamed", definition: { id: "mine" } })
    rewake.killDaemon()
    await rewake.append(task.id, "recall")
    expect(agentText(await rewake.waitForRuns(session.id, 2))).toContain("fig")

    expect((await rewake.api("DELETE", "/api/v1/admin/agents/mine")).status).toBe(204)
    expect((await rewake.api("DELETE", "/api/v1/admin/agents/mine")).status).toBe(404)
    expect((await rewake.api("GET", `/api/v1/sessions/${session.id}/events`)).status).toBe(200)
    const refused = await rewake.api("POST", "/api/v1/tasks", { message: "hello", agent: "mine" })
    expect(refused).toMatchObject({ status: 400, body: { code: "INVALID_INPUT" } })
  })

  test("what is wrong with one is told, and nothing is kept of it", async () => {
    for (const body of [
      { id: "Bad Id", name: "x", acp: { command: "x" } },
      { id: "nothing", name: "x" },
      { id: "nul", name: "x", acp: { command: "a\0b" } },
    ])
      expect(await rewake.api("POST", "/api/v1/admin/agents", body)).toMatchObject({
        status: 400,
        body: { code: "INVALID_INPUT" },
      })
    expect((await settings()).filter(({ definition }) => definition !== null)).toEqual([])
  })

  test("only admins see and change how agents are set up", async () => {
    const invited = await rewake.api<{ link: string }>("POST", "/api/v1/admin/invitations", {
      email: `u-${database}@example.org`,
      role: "user",
    })
    const code = new URL(invited.body.link).searchParams.get("code")
    await rewake.api("POST", "/api/v1/invitations/accept", { code, name: "U", password: "long enough for this" })
    const user = rewake.as(await rewake.issueToken(`u-${database}@example.org`))
    expect((await user("GET", "/api/v1/agents")).status).toBe(200)
    expect((await user("GET", "/api/v1/admin/agents")).status).toBe(403)
    expect((await user("POST", "/api/v1/agents/amp/install", {})).status).toBe(403)
    expect((await user("PUT", "/api/v1/admin/agents/codex/variables", { name: "A", value: "b" })).status).toBe(403)
  })

  test("a planted key reaches its agent and no other, and is in no file Rewake keeps: database, spool, logs, archive", async () => {
    const seen = join(outside, `seen-${database}`)
    const script = `printf %s "$PLANTED_KEY" | sha256sum > "${seen}"; echo "my key is $PLANTED_KEY" >&2; ${demo}`
    await add("keyed", script)
    expect((await rewake.api("PUT", "/api/v1/admin/agents/keyed/variables", { name: "PLANTED_KEY", value: KEY })).status).toBe(204)
    expect(JSON.stringify(await settings())).not.toContain(KEY)
    expect((await settings()).find(({ id }) => id === "keyed")?.variables).toMatchObject([{ name: "PLANTED_KEY" }])

    const { task, session } = await rewake.createTask("remember quince", { agent: "keyed" })
    const other = await rewake.createTask("remember apple", { agent: "demo" })
    await rewake.waitForRuns(session.id, 1)
    expect(readFileSync(seen, "utf8").split(" ")[0]).toBe(createHash("sha256").update(KEY).digest("hex"))
    const pid = started(await rewake.waitForRuns(other.session.id, 1))[0]?.pid
    expect(readFileSync(`/proc/${pid}/environ`, "utf8")).not.toContain(KEY)

    await rewake.append(task.id, "crash")
    const log = await rewake.waitForEvent(session.id, (event) => event.kind === "agent.exited", "the exit")
    const exit = log.find((event): event is EventOf<"agent.exited"> => event.kind === "agent.exited")
    expect(exit?.stderr_tail).toContain("my key is •••")

    await archiveTask(rewake, task.id, session.id)
    const archives = filesIn(join(rewake.dataDir, "archives"))
    expect(archives.length).toBeGreaterThan(0)
    for (const archive of archives) expect(unpacked(archive).includes(KEY)).toBe(false)
    expect(filesIn(rewake.dataDir).filter((path) => contentOf(path).includes(KEY))).toEqual([])
    if (rewake.database.url) expect(execFileSync("pg_dump", [rewake.database.url], { maxBuffer: 1 << 28 }).includes(KEY)).toBe(false)
    expect(rewake.output).not.toContain(KEY)

    expect((await rewake.api("PUT", "/api/v1/admin/agents/keyed/variables", { name: "PLANTED_KEY", value: null })).status).toBe(204)
    expect((await settings()).find(({ id }) => id === "keyed")?.variables).toEqual([])
  })
})

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes("/bin/"))
    .map((entry) => join(entry.parentPath, entry.name))
}

/** Logs and drafts come and go while they are listed. */
function contentOf(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch {
    return Buffer.alloc(0)
  }
}

const unpacked = (archive: string) =>
  execFileSync(archive.endsWith(".gz") ? "gzip" : "zstd", ["-dc", archive], { maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "inherit"] })

import { spawn } from "node:child_process"
import { once } from "node:events"
import { readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, expect, test } from "vitest"
import type { AuditPage } from "../../lib/contracts/audit"
import { processStartTime } from "../../lib/host/process-identity"
import { Browser } from "../support/browser"
import { ADMIN, Rewake } from "../support/server"

let rewake: Rewake
afterEach(() => rewake.stop())

/** Starts a further server that is expected to end by itself. */
async function failingStart(env: Record<string, string>): Promise<{ code: number; said: string }> {
  const child = spawn(process.execPath, ["dist/server.mjs"], {
    env: { ...rewake.environment(), ...env },
    stdio: ["ignore", "pipe", "pipe"],
  })
  let said = ""
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (said += chunk.toString("utf8")))
  const [code] = (await once(child, "close")) as [number]
  return { code, said }
}

test("a start that cannot succeed says why in a sentence: port, folder, second server, wrong settings", async () => {
  rewake = await Rewake.start()
  const other = join(rewake.dataDir, "other")
  const cases: [Record<string, string>, RegExp][] = [
    [{ DATA_DIR: other }, new RegExp(`Port ${new URL(rewake.url).port} on 127.0.0.1 is taken`)],
    [{ PORT: "0" }, /Another Rewake server is using/],
    [{ PORT: "0", DATA_DIR: "/dev/null/data" }, /DATA_DIR: cannot write to \/dev\/null\/data/],
    [{ PORT: "many", DATA_DIR: other }, /PORT: /],
    [{ PORT: "0", DATA_DIR: other, DATABASE_URL: "postgresql://localhost/none", AUTH_SECRET: "" }, /AUTH_SECRET: required with PostgreSQL/],
    [{ PORT: "0", DATA_DIR: other, ADMIN_PASSWORD: "" }, /ADMIN_EMAIL and ADMIN_PASSWORD: set both or neither/],
  ]
  for (const [env, sentence] of cases) {
    const { code, said } = await failingStart(env)
    expect(said).toMatch(sentence)
    expect(said).not.toMatch(/\n\s+at /)
    expect(code).toBe(1)
  }
  expect((await rewake.api("GET", "/api/v1/me")).status).toBe(200)
})

test("ADMIN_EMAIL and ADMIN_PASSWORD create the first admin; the command line prints a token that works, and nothing else", async () => {
  rewake = await Rewake.start({ empty: true })
  rewake.token = rewake.cli("token", "--user", ADMIN.email)
  expect((await rewake.api("GET", "/api/v1/me")).body).toMatchObject({ email: ADMIN.email, role: "admin" })
  expect(await new Browser(rewake).signIn(ADMIN.email, ADMIN.password)).toBeNull()
  const { items } = (await rewake.api<AuditPage>("GET", "/api/v1/admin/audit?action=first_admin.created")).body
  expect(items).toMatchObject([{ user_email: ADMIN.email, via: "server" }])
})

test("Ctrl-C ends the server, names the sessions that go on, and leaves their agents alone", async () => {
  rewake = await Rewake.start()
  const { session } = await rewake.createTask("count 400 50")
  const events = await rewake.waitForEvent(session.id, (event) => event.kind === "message.delta", "the first number")
  const agent = events.find((event) => event.kind === "agent.started")?.pid ?? 0
  const life = processStartTime(agent)
  const child = rewake.child
  const exited = child ? once(child, "exit") : null
  child?.kill("SIGINT")
  child?.kill("SIGINT")
  expect((await exited)?.[0]).toBe(0)
  expect(rewake.output).toMatch(/1 session goes on in agentctl/)
  expect(rewake.output).toContain(session.id)
  expect(processStartTime(agent)).toBe(life)
})

test("stop ends server, agentctl and agents politely", async () => {
  rewake = await Rewake.start()
  const { session } = await rewake.createTask("hang")
  const events = await rewake.waitForEvent(session.id, (event) => event.kind === "prompt.delivered", "the turn")
  const agent = events.find((event) => event.kind === "agent.started")?.pid ?? 0
  const daemon = rewake.daemon()
  const said = rewake.cli("stop")
  expect(said).toContain("server stopped")
  expect(said).toContain("agentctl and its agents stopped")
  expect(processStartTime(daemon.pid)).not.toBe(daemon.start_time)
  expect(processStartTime(agent)).toBeNull()
  expect(rewake.cli("stop")).toContain("no server is running")
})

test("stop says that the file of a server is damaged, and ends a daemon once its file is there again", async () => {
  rewake = await Rewake.start()
  const { session } = await rewake.createTask("hang")
  await rewake.waitForEvent(session.id, (event) => event.kind === "prompt.delivered", "the turn")
  const daemon = rewake.daemon()
  const serverFile = join(rewake.dataDir, "run/server.json")
  const server = readFileSync(serverFile, "utf8")
  writeFileSync(serverFile, "{}")
  expect(() => rewake.cli("stop")).toThrow(/A server runs, but .*server\.json is missing or damaged/)
  writeFileSync(serverFile, server)
  writeFileSync(join(rewake.dataDir, "run/agentctl.json"), "\0\0\0\0")
  expect(rewake.cli("stop")).toContain("agentctl and its agents stopped")
  expect(processStartTime(daemon.pid)).not.toBe(daemon.start_time)
})

test("what names the running processes is for its owner only", async () => {
  rewake = await Rewake.start()
  await rewake.createTask("help")
  await rewake.waitForRuns(
    (await rewake.api<{ items: { sessions: { id: string }[] }[] }>("GET", "/api/v1/tasks")).body.items[0]?.sessions[0]?.id ?? "",
    1,
  )
  for (const file of ["server.json", "agentctl.json"]) expect(statSync(join(rewake.dataDir, "run", file)).mode & 0o777).toBe(0o600)
})

test("a server that others on the network reach without TLS says so at its start", async () => {
  rewake = await Rewake.start({ env: { HOST: "0.0.0.0" } })
  expect(rewake.output).toMatch(/Warning: passwords and cookies travel unencrypted[\s\S]*set PUBLIC_URL to its https address/)
  rewake.output = ""
  rewake.env.HOST = "127.0.0.1"
  await rewake.restart()
  expect(rewake.output).not.toContain("unencrypted")
})

import { execFileSync } from "node:child_process"
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, dirname, join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import type { AgentInfo } from "../../lib/contracts/agents"
import { amp } from "../../server/agents/built-in/amp"
import { startNpmRegistry } from "../support/npm-registry"
import { Rewake } from "../support/server"
import { waitUntil } from "../support/wait-until"

let registry: Awaited<ReturnType<typeof startNpmRegistry>>
let home: string
let rewake: Rewake

beforeAll(async () => {
  const [needed = ""] = amp.install_scripts
  const dependencies = { [needed]: "1.0.0", "with-a-script": "1.0.0" }
  const scripts = { postinstall: "echo ran > ran.txt" }
  registry = await startNpmRegistry([
    ...amp.packages.map((p) => ({ ...p, bin: { amp: "amp.sh" }, dependencies, scripts })),
    ...Object.entries(dependencies).map(([name, version]) => ({ name, version, scripts })),
  ])
  home = mkdtempSync(join(tmpdir(), "rewake-home-"))
  writeFileSync(join(home, ".npmrc"), `registry=${registry.url}/\ncache=${join(home, "cache")}\nfetch-retries=0\n`)
  // Only what npm itself needs is on PATH: no agent is found there by chance.
  rewake = await Rewake.start({ env: { HOME: home, PATH: [dirname(process.execPath), "/usr/bin", "/bin"].join(delimiter) } })
})
afterAll(async () => {
  await rewake?.stop()
  await registry?.stop()
  rmSync(home, { recursive: true, force: true })
})

const agent = async () => {
  const { items } = (await rewake.api<{ items: AgentInfo[] }>("GET", "/api/v1/agents")).body
  return items.find(({ id }) => id === "amp") as AgentInfo
}
const install = () => rewake.api("POST", "/api/v1/agents/amp/install", {})
const installed = () =>
  waitUntil(async () => (await agent()).install === null && (await agent()).found === "installed", "installed", 60_000)
const places = () => readdirSync(join(rewake.dataDir, "agents")).filter((name) => !name.endsWith(".json"))
const packagesInUse = () => {
  const { name } = JSON.parse(readFileSync(join(rewake.dataDir, "agents", "amp.json"), "utf8")) as { name: string }
  return join(rewake.dataDir, "agents", name, "node_modules")
}
const program = () => join(packagesInUse(), ".bin", "amp")

test("an agent that is not here is brought from npm when an admin says so, and found again after a restart", async () => {
  expect(await agent()).toMatchObject({ found: null, installable: true, terminal: false, install: null })
  expect((await install()).status).toBe(202)
  await installed()
  expect(await agent()).toMatchObject({ terminal: true, found: "installed" })
  expect(execFileSync(program(), { encoding: "utf8" })).toBe(`amp ${amp.packages[0]?.version}\n`)
  await rewake.restart()
  expect(await agent()).toMatchObject({ terminal: true, found: "installed" })
})

test("of the packages only those that the agent's definition lists run their install script", () => {
  const ran = (name: string) => existsSync(join(packagesInUse(), name, "ran.txt"))
  expect(amp.install_scripts.map(ran)).toEqual([true])
  expect([...amp.packages.map(({ name }) => name), "with-a-script"].map(ran)).toEqual([false, false])
})

test("asked for twice at once it is installed once, and the one in use stays until the next has come", async () => {
  const [before] = places()
  await Promise.all([install(), install()])
  await installed()
  expect(places()).toHaveLength(2)
  expect(places()).toContain(before)
  expect(execFileSync(program(), { encoding: "utf8" })).toContain("amp")
})

test("a registry that has nothing: the reason is told, and the agent that was here is still here", async () => {
  const before = program()
  registry.setAway(true)
  rmSync(join(home, "cache"), { recursive: true, force: true })
  await install()
  await waitUntil(async () => (await agent()).install?.state === "failed", "failure", 60_000)
  expect((await agent()).install).toMatchObject({ message: expect.stringMatching(/404|not found/i) })
  expect(await agent()).toMatchObject({ terminal: true, found: "installed" })
  expect(program()).toBe(before)
  expect(places()).toHaveLength(2)
})

test("an agent that is not to be had from npm cannot be installed", async () => {
  expect(await rewake.api("POST", "/api/v1/agents/demo/install", {})).toMatchObject({ status: 422, body: { code: "AGENT_UNAVAILABLE" } })
  expect((await rewake.api("POST", "/api/v1/agents/nobody/install", {})).status).toBe(404)
})

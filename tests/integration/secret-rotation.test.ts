import { readFileSync } from "node:fs"
import { resolve } from "node:path"
import { describe, expect, test } from "vitest"
import type { Wait } from "../../lib/contracts/waits"
import { Browser } from "../support/browser"
import { ofKind } from "../support/events"
import { ADMIN, DATABASES } from "../support/server"
import { readRows } from "../support/sql"
import { useServer } from "../support/use-server"

const OLD = "the-secret-of-the-first-days"
const NEW = "the-secret-that-came-after-it"
const KEY = "planted-key-of-an-agent"
const demo = `exec "${process.execPath}" "${resolve("dist/programs/demo-agent.mjs")}" --variant demo`

describe.each(DATABASES)("AUTH_SECRET changes, on %s", (database) => {
  const rewake = useServer({ database, env: { AUTH_SECRET: OLD } })
  const restartWith = (secrets: string) => {
    rewake.env.AUTH_SECRET = secrets
    return rewake.restart()
  }
  const sealed = async () => [
    ...(await readRows(rewake.sqlPlace(), "SELECT sealed FROM agent_variables")),
    ...(await readRows(rewake.sqlPlace(), "SELECT sealed FROM mcp_servers")),
  ]
  /** What an agent that is started now is given: a key, and an MCP server with a key. */
  const expectKeysOfNewAgent = async () => {
    const { session } = await rewake.createTask("mcp", { agent: "keyed" })
    const log = await rewake.waitForRuns(session.id, 1)
    expect(ofKind(log, "message.agent").at(-1)?.content).toBe("I was given these MCP servers: notes")
    expect(readFileSync(`/proc/${ofKind(log, "agent.started")[0]?.pid}/environ`, "utf8")).toContain(`PLANTED_KEY=${KEY}`)
  }

  test("while the old one is listed, sign-ins, questions and stored keys stay good; keys also when it is gone", async () => {
    await rewake.api("POST", "/api/v1/admin/agents", { id: "keyed", name: "Keyed", acp: { command: "sh", args: ["-c", demo] } })
    await rewake.api("PUT", "/api/v1/admin/agents/keyed/variables", { name: "PLANTED_KEY", value: KEY })
    const server = { transport: "stdio", command: "mcp-notes", args: [] }
    await rewake.api("PUT", "/api/v1/admin/mcp-servers/notes", { server, values: { NOTES_KEY: "another-planted-key" } })
    const before = await sealed()
    const browser = new Browser(rewake)
    expect(await browser.signIn(ADMIN.email, ADMIN.password)).toBeNull()
    const { session } = await rewake.createTask("ask Which way?")
    await rewake.waitForEvent(session.id, (event) => event.kind === "run.waiting", "the question")

    await restartWith(`${NEW} ${OLD}`)
    expect((await browser.api("GET", "/api/v1/me")).status).toBe(200)
    const wait = (await rewake.session(session.id)).waits[0] as Wait
    const outcome = { kind: "selected", option_id: wait.options[0]?.id }
    const answer = { secret: wait.secret, outcome }
    expect((await rewake.api("POST", `/api/v1/sessions/${session.id}/waits/${wait.token_id}`, answer)).status).toBe(202)
    await rewake.waitForRuns(session.id, 1)
    await expectKeysOfNewAgent()
    const after = await sealed()
    expect(after).toHaveLength(2)
    for (const row of before) expect(after).not.toContainEqual(row)

    await restartWith(NEW)
    expect(await sealed()).toEqual(after)
    await expectKeysOfNewAgent()
    expect((await browser.api("GET", "/api/v1/me")).status).toBe(401)
  })
})

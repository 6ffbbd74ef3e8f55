import { existsSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, describe, expect, test } from "vitest"
import type { SessionStatusReport } from "../../lib/contracts/status"
import type { SessionView } from "../../lib/contracts/task"
import { agentText, numbers, Rewake } from "../support/server"
import { countRows, readRows } from "../support/sql"
import { waitUntil } from "../support/wait-until"

const durations = { leaseMs: 3_000, leaseRenewalMs: 500, sweepMs: 200, lastRetryMs: 1_000 }

describe("two servers over one PostgreSQL, each with its own data folder and daemon", () => {
  let first: Rewake
  let second: Rewake
  afterEach(async () => {
    await second?.stop()
    await first?.stop()
  })
  const startBoth = async () => {
    first = await Rewake.start({ database: "postgresql", durations })
    second = await first.serverElsewhere()
  }
  const statusOf = async (id: string) => (await second.api<SessionStatusReport>("GET", `/api/v1/sessions/${id}/status`)).body
  /** Its sweeps and probes have had every occasion to do harm by then: more than a lease has passed since it could judge the other. */
  async function leftAlone(id: string): Promise<SessionStatusReport> {
    await waitUntil(async () => (await statusOf(id)).on_other_server, "the other server's absence to be noticed")
    const since = Date.now()
    await waitUntil(() => Date.now() - since > durations.leaseMs + 2 * durations.sweepMs, "a lease to pass")
    return statusOf(id)
  }

  test("a run of a killed server is left to its own daemon, shown as unknown, and adopted when that server is back", async () => {
    await startBoth()
    const { session } = await first.createTask("count 500 25")
    await first.waitForEvent(session.id, (event) => event.kind === "message.delta", "the first number")
    const owner = async () => (await readRows(first.sqlPlace(), "SELECT owner_boot_id, owner_epoch FROM sessions"))[0]
    const before = await owner()
    await first.kill9()

    const report = await leftAlone(session.id)
    expect(report).toMatchObject({ state: "RUNNING", status: "running", executor_status: "unknown", needs_resume: false })
    expect((await second.api<SessionView>("GET", `/api/v1/sessions/${session.id}`)).body.on_other_server).toBe(true)
    expect(await owner()).toEqual(before)
    expect(existsSync(join(second.dataDir, "run", "agentctl.json"))).toBe(false)

    await first.boot()
    const log = await first.waitForRuns(session.id, 1)
    expect(agentText(log)).toBe(numbers(500))
    expect(log.filter((event) => event.kind === "agent.started")).toHaveLength(1)
    expect(log.some((event) => event.kind === "run.interrupted" || event.kind === "executor.error")).toBe(false)
    expect((await statusOf(session.id)).on_other_server).toBe(false)
  })

  test("a message given to the other server waits, and is delivered once by its own server when that is back", async () => {
    await startBoth()
    const { task, session } = await first.createTask("remember quince")
    await first.waitForRuns(session.id, 1)
    await first.kill9()
    await second.append(task.id, "recall")
    await leftAlone(session.id)
    expect((await second.events(session.id)).filter((event) => event.kind === "prompt.delivering")).toHaveLength(1)
    await first.boot()
    const log = await first.waitForRuns(session.id, 2)
    expect(agentText(log)).toContain("quince")
    expect(log.filter((event) => event.kind === "agent.started" && event.strategy === "new")).toHaveLength(1)
    expect(existsSync(join(second.dataDir, "run", "agentctl.json"))).toBe(false)
  })

  test("while its server lives, a session is shown by the other one as it is, and answers messages given there", async () => {
    await startBoth()
    const { task, session } = await first.createTask("remember medlar")
    await first.waitForRuns(session.id, 1)
    await second.append(task.id, "recall")
    expect(agentText(await second.waitForRuns(session.id, 2))).toContain("medlar")
    expect(await statusOf(session.id)).toMatchObject({ executor_status: "ready", on_other_server: false, resume_reason: "already_running" })

    await first.api("POST", `/api/v1/sessions/${session.id}/stop`, {})
    await first.waitForEvent(session.id, (event) => event.kind === "agent.exited", "the agent's end")
    await first.restart()
    expect(await statusOf(session.id)).toMatchObject({ executor_status: "ready", on_other_server: false })
    await second.api("POST", `/api/v1/sessions/${session.id}/resume`, {})
    await second.waitForEvent(
      session.id,
      (event) => event.kind === "agent.started" && event.strategy !== "new",
      "the agent, resumed by its own server",
    )

    expect((await second.api("DELETE", `/api/v1/tasks/${task.id}`)).status).toBe(204)
    await waitUntil(async () => (await countRows(first.sqlPlace(), "tasks")) === 0, "the other server to remove it")
  })
})

describe("a data folder that was moved to another machine", () => {
  let rewake: Rewake
  afterEach(() => rewake?.stop())

  test("counts as another server's until `npm run moved`; then its sessions go on, through other servers too", async () => {
    rewake = await Rewake.start({ database: "postgresql", durations })
    const { task, session } = await rewake.createTask("remember quince")
    await rewake.waitForRuns(session.id, 1)
    const status = async (from: Rewake) => (await from.api<SessionStatusReport>("GET", `/api/v1/sessions/${session.id}/status`)).body
    expect(() => rewake.cli("moved")).toThrow(/last used on this machine/)
    // What makes it another place is another id of the machine or of the folder; a test can change only the latter.
    writeFileSync(join(rewake.dataDir, "place-id"), "0123456789abcdef0123456789abcdef")
    expect(() => rewake.cli("moved")).toThrow(/A server is still up on the machine/)
    await rewake.kill9()
    rewake.killDaemon()

    await rewake.boot()
    expect(rewake.output).toContain("npm run moved")
    expect(await status(rewake)).toMatchObject({ on_other_server: true, executor_status: "unknown" })
    await waitUntil(() => {
      try {
        return rewake.cli("moved").includes("1 session of the machine")
      } catch (error) {
        expect(String(error)).toContain("A server is still up on the machine")
        return false
      }
    }, "the lease of the server that was there to run out")
    await rewake.restart()
    expect(await status(rewake)).toMatchObject({ on_other_server: false })
    const other = await rewake.serverElsewhere()
    try {
      expect(await status(other)).toMatchObject({ on_other_server: false })
      await other.append(task.id, "recall")
      expect(agentText(await other.waitForRuns(session.id, 2))).toContain("quince")
      expect(existsSync(join(other.dataDir, "run", "agentctl.json"))).toBe(false)
    } finally {
      await other.stop()
    }
  })
})

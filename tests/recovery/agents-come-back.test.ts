import { describe, expect, test } from "vitest"
import type { SessionEvent } from "../../lib/contracts/events"
import type { SessionStatusReport } from "../../lib/contracts/status"
import { agentText, type Rewake } from "../support/server"
import { useServers } from "../support/use-servers"
import { waitUntil } from "../support/wait-until"

const start = useServers()

const receipts = (events: readonly SessionEvent[]) => events.filter((event) => event.kind === "recovery.receipt")
const starts = (events: readonly SessionEvent[]) => events.filter((event) => event.kind === "agent.started").map((event) => event.strategy)

/** Server, daemon and agent at once, as when a host loses power; what is on disk stays. */
async function killEverything(rewake: Rewake, events: readonly SessionEvent[]) {
  const agents = events.flatMap((event) => (event.kind === "agent.started" && event.pid ? [event.pid] : []))
  await rewake.kill9()
  rewake.killDaemon()
  for (const pid of agents) {
    try {
      process.kill(pid, "SIGKILL")
    } catch {
      // Gone with its daemon's pipes already.
    }
  }
}

describe("server, agentctl and agent are killed together", () => {
  let rewake: Rewake

  test("[L3] in mid-turn: one interruption, the answer so far is kept, and the agent comes back by itself and remembers", async () => {
    rewake = await start()
    const { task, session } = await rewake.createTask("remember apple")
    await rewake.waitForRuns(session.id, 1)
    await rewake.append(task.id, "count 500 50")
    const before = await rewake.waitForEvent(
      session.id,
      (event) => event.kind === "message.delta" && event.content.includes(" 12"),
      "twelve numbers",
    )
    await killEverything(rewake, before)
    await rewake.boot()

    await rewake.waitForEvent(
      session.id,
      (event) => event.kind === "recovery.receipt" && event.receipt_kind === "resume",
      "the agent to come back",
    )
    const status = (await rewake.api<SessionStatusReport>("GET", `/api/v1/sessions/${session.id}/status`)).body
    expect(status).toMatchObject({ state: "WAITING_FOR_INPUT", status: "interrupted_startup", is_agent_running: true })
    expect(status.interruption?.reason).toBe("process_restart")

    await rewake.append(task.id, "recall")
    const log = await rewake.waitForRuns(session.id, 3)
    expect(log.filter((event) => event.kind === "run.interrupted")).toHaveLength(1)
    const partial = log.find((event) => event.kind === "message.agent" && event.partial)
    expect(partial?.kind === "message.agent" && partial.content.startsWith("1 2 3 4 5 6 7 8 9 10 11 12")).toBe(true)
    expect(agentText(log)).toContain("I remember: apple")
    expect(["loaded", "resumed"]).toContain(starts(log)[1])
    expect(receipts(log).map((event) => [event.receipt_kind, event.agent_memory])).toEqual([
      ["recover", "none"],
      ["resume", "native"],
    ])
  })

  test("[L3] an agent that cannot load its session is told its history with the first message, once, and the label says so", async () => {
    rewake = await start()
    const { task, session } = await rewake.createTask("remember pear", { agent: "demo-inject" })
    const before = await rewake.waitForRuns(session.id, 1)
    await killEverything(rewake, before)
    await rewake.boot()
    await rewake.append(task.id, "recall")
    await rewake.waitForRuns(session.id, 2)
    await rewake.append(task.id, "recall")
    const log = await rewake.waitForRuns(session.id, 3)
    expect(starts(log)).toEqual(["new", "injected"])
    expect(log.filter((event) => event.kind === "message.agent" && event.content.includes("I remember: pear"))).toHaveLength(2)
    expect(receipts(log).at(-1)).toMatchObject({ agent_memory: "injected", level: "L3" })
    // What a person wrote stays what they wrote: the history went to the agent, not into the transcript.
    expect(log.filter((event) => event.kind === "message.user").map((event) => event.content)).toEqual([
      "remember pear",
      "recall",
      "recall",
    ])
  })

  test("[9] an agent that can do neither is not replaced by a stranger: the session says so, and a fresh start is labelled", async () => {
    rewake = await start()
    const { task, session } = await rewake.createTask("remember plum", { agent: "demo-forgetful" })
    const before = await rewake.waitForRuns(session.id, 1)
    await killEverything(rewake, before)
    await rewake.boot()
    const status = await waitUntil(async () => {
      const { body } = await rewake.api<SessionStatusReport>("GET", `/api/v1/sessions/${session.id}/status`)
      return body.is_agent_running ? null : body
    }, "the agent's loss to be known")
    expect(status).toMatchObject({ is_resumable: false, needs_resume: false, resume_reason: "not_resumable", executor_status: "ready" })
    const refused = await rewake.api("POST", `/api/v1/tasks/${task.id}/append`, { message: "recall" })
    expect([refused.status, refused.body.code]).toEqual([409, "SESSION_NOT_RESUMABLE"])
    expect((await rewake.api("POST", `/api/v1/sessions/${session.id}/resume`, {})).body.code).toBe("SESSION_NOT_RESUMABLE")

    expect((await rewake.api("POST", `/api/v1/sessions/${session.id}/resume`, { fresh: true })).status).toBe(202)
    await rewake.waitForEvent(
      session.id,
      (event) => event.kind === "agent.started" && event.strategy === "idle",
      "a fresh agent, labelled as such",
    )
    await rewake.append(task.id, "recall")
    expect(agentText(await rewake.waitForRuns(session.id, 2))).toContain("I remember nothing yet.")
  })

  test("[5] two tabs, two calls and a message at once launch one agent", async () => {
    rewake = await start({ env: { AUTO_RESUME: "off" } })
    const { task, session } = await rewake.createTask("remember fig")
    const before = await rewake.waitForRuns(session.id, 1)
    await killEverything(rewake, before)
    await rewake.boot()
    await rewake.waitForEvent(session.id, (event) => event.kind === "recovery.receipt", "reconciliation")
    const resume = () => rewake.api("POST", `/api/v1/sessions/${session.id}/resume`, {})
    await Promise.all([resume(), resume(), rewake.append(task.id, "recall"), resume(), resume()])
    const log = await rewake.waitForRuns(session.id, 2)
    expect(starts(log)).toHaveLength(2)
    expect(agentText(log)).toContain("I remember: fig")
  })
})

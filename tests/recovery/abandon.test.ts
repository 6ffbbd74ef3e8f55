import { renameSync, rmSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { afterEach, describe, expect, test } from "vitest"
import type { SessionEvent } from "../../lib/contracts/events"
import type { SessionStatusReport } from "../../lib/contracts/status"
import { processStartTime } from "../../lib/host/process-identity"
import { agentText, type Rewake, type StartOptions } from "../support/server"
import { useServers } from "../support/use-servers"
import { waitUntil } from "../support/wait-until"

const startServer = useServers()

/** A silent daemon is noticed by its first probe, and noticed again soon when it answers. */
const start = (options: StartOptions = {}) =>
  startServer({ database: "postgresql", durations: { probeMs: 1_000, lastRetryMs: 1_000 }, ...options })

describe("an executor that does not answer is abandoned", () => {
  let rewake: Rewake
  let stopped: number | null = null
  afterEach(async () => {
    if (stopped !== null) process.kill(stopped, "SIGCONT")
    stopped = null
  })

  const status = async (id: string) => (await rewake.api<SessionStatusReport>("GET", `/api/v1/sessions/${id}/status`)).body
  const abandon = (id: string) => rewake.api("POST", `/api/v1/sessions/${id}/abandon`)
  const kinds = (log: readonly SessionEvent[], kind: SessionEvent["kind"]) => log.filter((event) => event.kind === kind)

  /** A session that knows a word and is counting, under a daemon that has just been stopped; the server was started after that. */
  async function silentInMidTurn() {
    const { task, session } = await rewake.createTask("remember kiwi")
    await rewake.waitForRuns(session.id, 1)
    await rewake.append(task.id, "count 3000 20")
    const log = await rewake.waitForEvent(session.id, (event) => event.kind === "message.delta" && / 10\b/.test(event.content), "numbers")
    expect((await abandon(session.id)).status).toBe(409)
    const agent = log.findLast((event) => event.kind === "agent.started")?.pid as number
    const { pid } = rewake.daemon()
    await rewake.kill9()
    process.kill(pid, "SIGSTOP")
    stopped = pid
    await rewake.boot()
    await waitUntil(async () => (await status(session.id)).executor_status === "unknown", "the silence to be noticed")
    return { task, session, agent: { pid: agent, life: processStartTime(agent) } }
  }

  function wakeDaemon() {
    if (stopped !== null) process.kill(stopped, "SIGCONT")
    stopped = null
  }

  test("a session whose spool cannot be opened says so instead of RUNNING, and its run can be abandoned", async () => {
    rewake = await start()
    const healthy = await rewake.createTask("remember medlar")
    await rewake.waitForRuns(healthy.session.id, 1)
    const { session } = await rewake.createTask("hang")
    await rewake.waitForEvent(session.id, (event) => event.kind === "message.delta", "the agent at work")
    const { pid } = rewake.daemon()
    await rewake.kill9()
    process.kill(pid, "SIGKILL")
    const spool = join(rewake.dataDir, "sessions", `${session.id}.messages.jsonl`)
    renameSync(spool, `${spool}.kept`)
    symlinkSync(spool, spool)
    await rewake.boot()

    const log = await rewake.waitForEvent(session.id, (event) => event.kind === "executor.error", "the reason")
    expect(kinds(log, "executor.error")).toMatchObject([{ reason: "not_reconciled" }])
    expect(kinds(log, "run.interrupted")).toEqual([])
    expect(await status(session.id)).toMatchObject({ state: "ERROR" })
    expect((await abandon(session.id)).status).toBe(202)
    expect(kinds(await rewake.waitForRuns(session.id, 1), "run.interrupted")).toMatchObject([{ reason: "abandoned" }])
    await rewake.append(healthy.task.id, "recall")
    expect(agentText(await rewake.waitForRuns(healthy.session.id, 2))).toContain("medlar")

    rmSync(spool)
    renameSync(`${spool}.kept`, spool)
    await waitUntil(async () => (await status(session.id)).state === "WAITING_FOR_INPUT", "the session to recover by itself")
  })

  test("[3][7] its run is interrupted once, nothing starts in its place, and when it comes back it is told to stop", async () => {
    rewake = await start()
    const { task, session, agent } = await silentInMidTurn()

    expect(await abandon(session.id)).toMatchObject({ status: 202, body: { session_id: session.id } })
    expect((await abandon(session.id)).status).toBe(202)
    const abandoned = await rewake.events(session.id)
    expect(kinds(abandoned, "run.interrupted")).toMatchObject([{ reason: "abandoned" }])
    expect(kinds(abandoned, "executor.stopped")).toMatchObject([{ reason: "abandoned" }])
    expect(abandoned.findLast((event) => event.kind === "message.agent")).toMatchObject({ partial: true })
    expect(await status(session.id)).toMatchObject({
      state: "WAITING_FOR_INPUT",
      status: "interrupted_startup",
      executor_status: "unknown",
      resume_reason: "stale_execution",
      needs_resume: false,
      interruption: { reason: "abandoned" },
    })

    // The daemon holds the folder: a message is kept, and waits.
    const queued = await rewake.append(task.id, "recall")
    await rewake.api("POST", `/api/v1/sessions/${session.id}/resume`, {})
    expect(kinds(await rewake.events(session.id), "prompt.delivering")).toHaveLength(2)

    wakeDaemon()
    const log = await rewake.waitForRuns(session.id, 3)
    expect(processStartTime(agent.pid)).not.toBe(agent.life)
    expect(kinds(log, "run.interrupted")).toHaveLength(1)
    expect(agentText(log)).toContain("I remember: kiwi")
    expect(log.filter((event) => event.kind === "prompt.delivering" && event.prompt_id === queued.prompt_id)).toHaveLength(1)
    // The run that was given up says nothing more than that it ended too late.
    const end = log.findIndex((event) => event.kind === "run.interrupted")
    const run_id = (log[end] as SessionEvent & { run_id: string }).run_id
    const after = log.slice(end + 1).filter((event) => "run_id" in event && event.run_id === run_id)
    expect(after.map((event) => event.kind)).toEqual(["run.late_outcome"])
    expect((await abandon(session.id)).status).toBe(409)
  })

  test("[7] a server killed after that still tells the daemon, without a visit", async () => {
    rewake = await start({ env: { AUTO_RESUME: "off" } })
    const { session, agent } = await silentInMidTurn()
    expect((await abandon(session.id)).status).toBe(202)
    await rewake.restart()
    expect(processStartTime(agent.pid)).toBe(agent.life)
    wakeDaemon()
    await waitUntil(() => processStartTime(agent.pid) !== agent.life, "the agent to be ended")
    const log = await rewake.waitForEvent(session.id, (event) => event.kind === "run.late_outcome", "the late outcome")
    expect(kinds(log, "run.interrupted")).toHaveLength(1)
    await waitUntil(async () => (await status(session.id)).needs_resume, "a session that can be resumed")
  })

  test("a daemon that died after all is replaced, and the session goes on", async () => {
    rewake = await start()
    const { task, session } = await silentInMidTurn()
    expect((await abandon(session.id)).status).toBe(202)
    await rewake.append(task.id, "recall")
    rewake.killDaemon()
    stopped = null
    const log = await rewake.waitForRuns(session.id, 3)
    expect(kinds(log, "run.interrupted")).toMatchObject([{ reason: "abandoned" }])
    expect(agentText(log)).toContain("I remember: kiwi")
  })
})

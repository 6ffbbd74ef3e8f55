import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import type { SessionEvent } from "../../lib/contracts/events"
import type { SessionStatusReport } from "../../lib/contracts/status"
import { processStartTime } from "../../lib/host/process-identity"
import { endsOf, ofKind } from "../support/events"
import { agentText, follow, numbers, type Rewake } from "../support/server"
import { useServers } from "../support/use-servers"
import { waitUntil } from "../support/wait-until"

const start = useServers()

const interruptions = (log: readonly SessionEvent[]) => ofKind(log, "run.interrupted")

describe("agentctl is killed", () => {
  let rewake: Rewake

  /** A session that knows a word and is counting, seen to have said ten numbers. */
  async function countingSession() {
    const { task, session } = await rewake.createTask("remember kiwi")
    await rewake.waitForRuns(session.id, 1)
    await rewake.append(task.id, "count 2000 20")
    const viewer = follow(rewake, session.id)
    await viewer.until((event) => event.kind === "message.delta" && / 10\b/.test(event.content), "ten numbers")
    const agents = viewer.seen.filter((event) => event.kind === "agent.started")
    return { task, session, viewer, agentPid: agents.at(-1)?.pid as number }
  }

  /** What the log must say of a run that was cut off, and that the session is as good as before. */
  async function expectCutOffOnce(sessionId: string, taskId: number, reason: string) {
    const log = await rewake.waitForEvent(sessionId, (event) => event.kind === "run.interrupted", "the interruption")
    expect(interruptions(log).map((event) => event.reason)).toEqual([reason])
    const cut = ofKind(log, "message.agent").at(-1)
    expect(cut?.partial).toBe(true)
    expect(cut?.run_id).toBe(interruptions(log)[0]?.run_id)
    expect(cut?.content.split(" ").length).toBeGreaterThanOrEqual(10)
    expect(numbers(2000).startsWith(cut?.content ?? "?")).toBe(true)

    await waitUntil(async () => (await rewake.session(sessionId)).state === "WAITING_FOR_INPUT", "a session that takes messages")
    const report = (await rewake.api<SessionStatusReport>("GET", `/api/v1/sessions/${sessionId}/status`)).body
    expect(report).toMatchObject({ status: "interrupted_startup", interruption: { reason } })

    await rewake.append(taskId, "recall")
    const later = await rewake.waitForRuns(sessionId, 3)
    expect(agentText(later)).toContain("I remember: kiwi")
    // It remembers by its own memory, and the log says so.
    expect(later.filter((event) => event.kind === "agent.started").at(-1)).toMatchObject({
      strategy: expect.stringMatching(/^(loaded|resumed)$/),
    })
    expect(interruptions(later)).toHaveLength(1)
    // Nothing was sent again by itself: each message reached an agent once.
    const delivered = later.flatMap((event) => (event.kind === "prompt.delivering" ? [event.prompt_id] : []))
    expect(delivered).toHaveLength(3)
    expect(new Set(delivered).size).toBe(3)
    expect(later.map((event) => event.seq)).toEqual(later.map((_, i) => i + 1))
    return later
  }

  test("[3] in mid-stream under a living server: one interruption, what was said is kept, the agent remembers", async () => {
    rewake = await start()
    const { task, session, viewer } = await countingSession()
    const server = rewake.child?.pid
    rewake.killDaemon()
    const log = await expectCutOffOnce(session.id, task.id, "executor_lost")
    expect(rewake.child?.pid).toBe(server)
    // The browser that was there all along saw the same.
    await viewer.until((event) => event.seq === log.at(-1)?.seq, "the last event")
    expect(viewer.seen.map((event) => event.seq)).toEqual(log.map((event) => event.seq))
  })

  test("[L1] messages queued behind the interrupted run are kept, and delivered once when the session goes on", async () => {
    rewake = await start()
    const { task, session } = await countingSession()
    const queued = await rewake.append(task.id, "recall")
    rewake.killDaemon()
    const log = await rewake.waitForRuns(session.id, 3)
    expect(interruptions(log)).toHaveLength(1)
    expect(log.filter((event) => event.kind === "prompt.delivering" && event.prompt_id === queued.prompt_id)).toHaveLength(1)
    expect(agentText(log)).toContain("I remember: kiwi")
  })

  test("[3] while a question is open: the run is interrupted once and its question can be answered no more", async () => {
    rewake = await start()
    const { session } = await rewake.createTask("ask Which way?")
    await rewake.waitForEvent(session.id, (event) => event.kind === "run.waiting", "the question")
    const [wait] = (await rewake.session(session.id)).waits
    rewake.killDaemon()
    const log = await rewake.waitForRuns(session.id, 1)
    expect(interruptions(log).map((event) => event.reason)).toEqual(["executor_lost"])
    expect(log.some((event) => event.kind === "token.revoked")).toBe(true)
    const late = await rewake.api("POST", `/api/v1/sessions/${session.id}/waits/${wait?.token_id}`, {
      secret: wait?.secret,
      outcome: { kind: "selected", option_id: wait?.options[0]?.id },
    })
    expect(late).toMatchObject({ status: 409, body: { code: "RESUME_TOKEN_REJECTED", reason: "revoked" } })
  })

  test("[1] a tool call left open is closed once, with its own run, and not again when the next one ends", async () => {
    rewake = await start()
    const { task, session } = await rewake.createTask("run echo never")
    await rewake.waitForEvent(session.id, (event) => event.kind === "run.waiting", "the question")
    rewake.killDaemon()
    await rewake.waitForRuns(session.id, 1)
    await rewake.append(task.id, "remember kiwi")
    const log = await rewake.waitForRuns(session.id, 2)
    const run_id = interruptions(log)[0]?.run_id
    expect(log.filter((event) => event.kind === "tool.update")).toMatchObject([{ run_id, status: "interrupted" }])
  })

  test("[8] several sessions at once: each is interrupted once, one at rest is left alone", async () => {
    rewake = await start()
    const resting = await rewake.createTask("remember rest")
    await rewake.waitForRuns(resting.session.id, 1)
    const counting = await Promise.all([1, 2, 3].map(() => rewake.createTask("count 2000 20")))
    for (const { session } of counting) await rewake.waitForEvent(session.id, (event) => event.kind === "message.delta", "a number")
    rewake.killDaemon()
    for (const { session } of counting) {
      const log = await rewake.waitForRuns(session.id, 1)
      expect(endsOf(log)).toEqual(["run.interrupted"])
    }
    expect(interruptions(await rewake.events(resting.session.id))).toEqual([])
    await rewake.append(resting.task.id, "recall")
    expect(agentText(await rewake.waitForRuns(resting.session.id, 2))).toContain("rest")
  })

  test("[3] together with server and agent in mid-turn: one interruption after the next start, the agent remembers", async () => {
    rewake = await start()
    const { task, session, agentPid } = await countingSession()
    await killEverything(agentPid)
    await rewake.boot()
    await expectCutOffOnce(session.id, task.id, "process_restart")
  })

  test("[3] a server killed again and again during its recovery still writes one interruption", async () => {
    rewake = await start()
    const { task, session, agentPid } = await countingSession()
    await killEverything(agentPid)
    const before = rewake.daemon().pid
    const moments = [
      async () => {},
      () => waitUntil(() => published()?.pid !== before && published() !== null, "a new daemon to be launched"),
      () => rewake.waitForEvent(session.id, (event) => event.kind === "run.interrupted", "the interruption"),
      async () => {},
    ]
    for (const moment of moments) {
      await rewake.boot()
      await moment()
      await rewake.kill9()
    }
    await rewake.boot()
    await expectCutOffOnce(session.id, task.id, "process_restart")
  })

  async function killEverything(agentPid: number) {
    const { pid } = rewake.daemon()
    const life = processStartTime(pid)
    // The daemon is stopped first: nobody may see the others go and write about it.
    process.kill(pid, "SIGSTOP")
    await rewake.kill9()
    process.kill(agentPid, "SIGKILL")
    process.kill(pid, "SIGKILL")
    await waitUntil(() => processStartTime(pid) !== life, "agentctl to be gone")
  }
  const published = () => {
    try {
      return JSON.parse(readFileSync(join(rewake.dataDir, "run", "agentctl.json"), "utf8")) as { pid: number }
    } catch {
      return null
    }
  }
})

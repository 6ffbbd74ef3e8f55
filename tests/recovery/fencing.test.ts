import { once } from "node:events"
import { Client } from "pg"
import { afterEach, describe, expect, test } from "vitest"
import type { SessionStatusReport } from "../../lib/contracts/status"
import type { SessionView } from "../../lib/contracts/task"
import { arm } from "../support/kill-points"
import { agentText, follow, numbers, type Rewake } from "../support/server"
import { countRows } from "../support/sql"
import { openTerminal, readySession, TERMINAL_ENV, view } from "../support/terminal"
import { useServers } from "../support/use-servers"
import { waitUntil } from "../support/wait-until"

const start = useServers()

/** A lease that expires soon, but not so soon that a busy machine would miss a renewal. */
const SHORT_LEASE = { leaseMs: 5_000, leaseRenewalMs: 1_000, sweepMs: 500 }

describe("two servers over one PostgreSQL", () => {
  let first: Rewake
  let second: Rewake
  afterEach(() => second?.kill9())

  test("[6] a server stopped past its lease loses its sessions to another, and does no harm when it wakes: it ends", async () => {
    first = await start({ database: "postgresql", durations: SHORT_LEASE })
    const { task, session } = await first.createTask("count 700 50")
    await first.waitForEvent(session.id, (event) => event.kind === "message.delta", "the first number")
    second = await first.secondServer()
    const paused = first.child
    paused?.kill("SIGSTOP")

    await second.waitForEvent(session.id, (event) => event.kind === "run.adopted", "the second server to take over")
    const viewer = follow(second, session.id)
    await viewer.until((event) => event.kind === "message.delta", "the stream through the second server")

    const exited = paused ? once(paused, "exit") : null
    paused?.kill("SIGCONT")
    expect((await exited)?.[0]).toBe(75)

    await second.append(task.id, "remember quince")
    await second.api("POST", `/api/v1/sessions/${session.id}/cancel`)
    const log = await second.waitForRuns(session.id, 2)
    expect(log.map((event) => event.seq)).toEqual(log.map((_, i) => i + 1))
    expect(log.filter((event) => event.kind === "run.started")).toHaveLength(2)
    expect(log.filter((event) => event.kind === "agent.started")).toHaveLength(1)
    const counted = agentText(log).split("\n")[0] ?? ""
    expect(numbers(700).startsWith(counted)).toBe(true)
  })

  test("[6] a server stopped in the middle of a transaction, its rows locked, loses its sessions all the same", async () => {
    first = await start({ database: "postgresql", durations: SHORT_LEASE })
    const { session } = await first.createTask("count 700 50")
    await first.waitForEvent(session.id, (event) => event.kind === "message.delta", "the first number")
    await arm(first, "writer.applied", { signal: "SIGSTOP" }).reached()
    second = await first.secondServer()
    await second.waitForEvent(session.id, (event) => event.kind === "run.adopted", "the second server to take over")

    const exited = first.child ? once(first.child, "exit") : null
    first.child?.kill("SIGCONT")
    expect((await exited)?.[0]).toBe(75)
    await second.api("POST", `/api/v1/sessions/${session.id}/cancel`)
    const log = await second.waitForRuns(session.id, 1)
    expect(log.map((event) => event.seq)).toEqual(log.map((_, i) => i + 1))
    expect(numbers(700).startsWith(agentText(log))).toBe(true)
  })

  test("[L3] a page that opens a terminal at another server before that has taken over does not keep the agent from coming back", async () => {
    first = await start({ database: "postgresql", env: TERMINAL_ENV })
    second = await first.secondServer()
    const sessionId = await readySession(first)
    const worker = await openTerminal(first, sessionId)
    const viewer = await view(second, worker)
    first.killDaemon()
    await first.kill9()
    await viewer.attach({ offset: viewer.offset })
    const log = await second.waitForEvent(
      sessionId,
      (event) => event.kind === "agent.started" && event.strategy !== "new",
      "the agent to come back",
    )
    expect(log.filter((event) => event.kind === "worker.restored")).toHaveLength(1)
  })

  test("[L1] a message given to the server that does not own the session reaches the agent, and its viewers see the answer", async () => {
    first = await start({ database: "postgresql" })
    second = await first.secondServer()
    const { task, session } = await first.createTask("remember medlar")
    await first.waitForRuns(session.id, 1)
    const viewer = follow(second, session.id)
    await second.append(task.id, "recall")
    await viewer.until((event) => event.kind === "message.agent" && event.content.includes("medlar"), "the answer at the other server")
    const log = await second.waitForRuns(session.id, 2)
    expect(log.filter((event) => event.kind === "agent.started")).toHaveLength(1)
    await viewer.until((event) => event.seq === log.at(-1)?.seq, "the whole log at the other server")
    expect(viewer.seen.map((event) => event.seq)).toEqual(log.map((event) => event.seq))
  })
})

describe("two servers that accept messages for one session at once", () => {
  let second: Rewake
  afterEach(() => second?.kill9())

  test("take no more into its queue together than QUEUE_MAX allows", async () => {
    const first = await start({ database: "postgresql", env: { QUEUE_MAX: "5" } })
    second = await first.secondServer()
    const { task, session } = await first.createTask("hang")
    await first.waitForEvent(session.id, (event) => event.kind === "message.delta", "the agent to be busy")
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        [first, second][i % 2]?.api("POST", `/api/v1/tasks/${task.id}/append`, { message: `recall ${i}`, client_message_id: `c-${i}` }),
      ),
    )
    const counted = (status: number) => answers.filter((answer) => answer?.status === status).length
    expect([counted(202), counted(429)]).toEqual([5, 15])
  })
})

describe("two servers that cannot hear each other for a moment", () => {
  let first: Rewake
  let second: Rewake
  afterEach(() => second?.kill9())

  test("[L1] what one was told meanwhile reaches the agent and the viewers once they hear again", async () => {
    first = await start({ database: "postgresql" })
    second = await first.secondServer()
    const { task, session } = await first.createTask("remember bilberry")
    await first.waitForRuns(session.id, 1)
    const viewer = follow(second, session.id)
    await viewer.until((event) => event.kind === "run.completed", "the first run")
    const database = new Client({ connectionString: first.database.url as string })
    await database.connect()
    await database.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'rewake-notices'")
    await database.end()
    await second.append(task.id, "recall")
    await viewer.until((event) => event.kind === "message.agent" && event.content.includes("bilberry"), "the answer at the other server")
  })
})

describe("two servers, and a session that only one of them has made", () => {
  let first: Rewake
  let second: Rewake
  afterEach(() => second?.kill9())

  test("[L1] a message given to the other one is delivered, and the other one can remove it", async () => {
    first = await start({ database: "postgresql" })
    second = await first.secondServer()
    const { task } = await first.createTask("remember sloe")
    const made = (await first.api<SessionView>("POST", `/api/v1/tasks/${task.id}/sessions`, {})).body
    await second.append(task.id, "count 5 1", { session_id: made.id })
    expect(agentText(await second.waitForRuns(made.id, 1))).toBe(numbers(5))
    expect((await second.api("DELETE", `/api/v1/tasks/${task.id}`)).status).toBe(204)
    const { endpoint, secret } = first.daemon()
    await waitUntil(async () => {
      const sessions = await fetch(`${endpoint}/sessions`, { headers: { authorization: `Bearer ${secret}` } })
      return ((await sessions.json()) as unknown[]).length === 0
    }, "the daemon to know nothing of it")
    await waitUntil(async () => (await countRows(first.sqlPlace(), "tasks")) === 0, "its rows to be removed")
  })
})

describe("a daemon that is silent", () => {
  let rewake: Rewake
  /** Noticed by its first probe or after a few missing heartbeats, and asked again soon. */
  const durations = { probeMs: 1_000, heartbeatMs: 500, streamSilenceMs: 2_500, lastRetryMs: 1_000 }

  test("[7] is unknown, not dead: nothing is started in its place, and when it speaks again the answer is whole", async () => {
    rewake = await start({ durations })
    const { session } = await rewake.createTask("count 100 30")
    await rewake.waitForEvent(session.id, (event) => event.kind === "message.delta", "the first number")
    const { pid } = rewake.daemon()
    await rewake.kill9()
    process.kill(pid, "SIGSTOP")
    try {
      await rewake.boot()
      const status = await waitUntil(async () => {
        const { body } = await rewake.api<SessionStatusReport>("GET", `/api/v1/sessions/${session.id}/status`)
        return body.executor_status === "unknown" ? body : null
      }, "the silence to be noticed")
      expect(status).toMatchObject({ state: "RUNNING", status: "running", needs_resume: false, resume_reason: "stale_execution" })
      expect((await rewake.events(session.id)).some((event) => event.kind === "run.interrupted" || event.kind === "executor.error")).toBe(
        false,
      )
    } finally {
      process.kill(pid, "SIGCONT")
    }
    const log = await rewake.waitForRuns(session.id, 1)
    expect(rewake.daemon().pid).toBe(pid)
    expect(agentText(log)).toBe(numbers(100))
    expect(log.some((event) => event.kind === "run.interrupted")).toBe(false)
  })

  test("[3] that dies after all, when the first try at it was in vain: the restart is named and accounted for, and its agent comes back unasked", async () => {
    rewake = await start({ durations })
    const { session } = await rewake.createTask("count 2000 20")
    await rewake.waitForEvent(session.id, (event) => event.kind === "message.delta", "the first number")
    const { pid } = rewake.daemon()
    await rewake.kill9()
    process.kill(pid, "SIGSTOP")
    await rewake.boot()
    await waitUntil(async () => {
      const { body } = await rewake.api<SessionStatusReport>("GET", `/api/v1/sessions/${session.id}/status`)
      return body.executor_status === "unknown"
    }, "the silence to be noticed")
    process.kill(pid, "SIGKILL")
    const log = await rewake.waitForEvent(
      session.id,
      (event) => event.kind === "recovery.receipt" && event.receipt_kind === "recover",
      "what became of it",
    )
    expect(log.filter((event) => event.kind === "run.interrupted")).toMatchObject([{ reason: "process_restart" }])
    await rewake.waitForEvent(
      session.id,
      (event) => event.kind === "recovery.receipt" && event.receipt_kind === "resume" && event.agent_memory === "native",
      "the agent, brought back without a visit",
    )
  })

  test("a first message accepted while it is silent is delivered, without anybody's help, when it speaks again", async () => {
    rewake = await start({ durations })
    await rewake.waitForRuns((await rewake.createTask("hello")).session.id, 1)
    const { pid } = rewake.daemon()
    process.kill(pid, "SIGSTOP")
    const { session } = await rewake.createTask("count 5 1")
    try {
      const log = await rewake.waitForEvent(session.id, (event) => event.kind === "executor.error", "the silence to be noticed")
      expect(log.find((event) => event.kind === "executor.error")).toMatchObject({ reason: "unreachable" })
      await waitUntil(async () => (await rewake.session(session.id)).executor_status === "unknown", "a second look at the silent daemon")
    } finally {
      process.kill(pid, "SIGCONT")
    }
    expect(agentText(await rewake.waitForRuns(session.id, 1))).toBe(numbers(5))
    expect(await rewake.session(session.id)).toMatchObject({ state: "WAITING_FOR_INPUT", executor_status: "ready" })
  })

  test("[7] is noticed by a server that is running, too, and goes on when it speaks again", async () => {
    rewake = await start({ durations })
    const { session } = await rewake.createTask("count 100 30")
    await rewake.waitForEvent(session.id, (event) => event.kind === "message.delta", "the first number")
    const { pid } = rewake.daemon()
    process.kill(pid, "SIGSTOP")
    try {
      await waitUntil(async () => {
        const { body } = await rewake.api<SessionStatusReport>("GET", `/api/v1/sessions/${session.id}/status`)
        return body.executor_status === "unknown"
      }, "the silence to be noticed")
    } finally {
      process.kill(pid, "SIGCONT")
    }
    const log = await rewake.waitForRuns(session.id, 1)
    expect(agentText(log)).toBe(numbers(100))
    expect(log.some((event) => event.kind === "run.interrupted")).toBe(false)
  })
})

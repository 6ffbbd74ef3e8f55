import { once } from "node:events"
import { afterEach, describe, expect, test } from "vitest"
import { ofKind } from "../support/events"
import { arm } from "../support/kill-points"
import { agentText, follow, numbers, Rewake } from "../support/server"
import { readRows } from "../support/sql"
import type { TcpProxy } from "../support/tcp-proxy"
import { waitUntil } from "../support/wait-until"

/** A lease that expires soon, but not so soon that a busy machine would miss a renewal. */
const LEASE_MS = 4_000
const durations = { leaseMs: LEASE_MS, leaseRenewalMs: 500, sweepMs: 200, lastRetryMs: 1_000, queryMs: 1_500 }

describe("a server whose PostgreSQL goes away while it recovers", () => {
  let rewake: Rewake
  afterEach(() => rewake?.stop())

  test("goes on with its recovery when it is back, and reports it", async () => {
    rewake = await Rewake.start({ database: "postgresql", proxied: true, armed: true, durations })
    const { task, session } = await rewake.createTask("remember quince")
    await rewake.waitForRuns(session.id, 1)
    await rewake.append(task.id, "count 400 20")
    await rewake.waitForEvent(session.id, (event) => event.kind === "message.delta" && event.content.includes("5"), "some numbers")
    const { proxy } = rewake
    await rewake.kill9()
    const stopped = arm(rewake, "claim.committed", { signal: "SIGSTOP" })
    const started = rewake.boot()
    await stopped.reached()
    proxy?.cut()
    rewake.child?.kill("SIGCONT")
    const cutAt = Date.now()
    await waitUntil(() => Date.now() - cutAt > 3 * durations.sweepMs, "tries in vain")
    proxy?.pass()
    await started
    const log = await rewake.waitForRuns(session.id, 2)
    expect(agentText(log)).toContain(numbers(400))
    await waitUntil(async () => (await readRows(rewake.sqlPlace(), "SELECT boot_id FROM recovery_reports")).length === 2, "the report")
  })
})

describe("a server that can write to PostgreSQL and not read while its agent comes back", () => {
  let rewake: Rewake
  afterEach(() => rewake?.stop())

  test("says nothing of a failure that there was not, and takes the agent up once it can read", async () => {
    rewake = await Rewake.start({ database: "postgresql", proxied: true, armed: true, durations })
    const { task, session } = await rewake.createTask("remember quince")
    const [started] = ofKind(await rewake.waitForRuns(session.id, 1), "agent.started")
    process.kill(started?.pid ?? 0, "SIGKILL")
    await rewake.waitForEvent(session.id, (event) => event.kind === "agent.exited", "the agent's end")
    const stopped = arm(rewake, "resume.agent_up", { signal: "SIGSTOP" })
    await rewake.append(task.id, "recall")
    await stopped.reached()
    rewake.proxy?.refuseNewOnes()
    await endReaders(rewake)
    rewake.child?.kill("SIGCONT")
    await waitUntil(() => rewake.output.includes("session work failed"), "the start to be given up")
    rewake.proxy?.pass()
    const { seen, until } = follow(rewake, session.id)
    await until(() => ofKind(seen, "run.completed").length === 2, "the answer")
    expect(ofKind(seen, "message.agent").at(-1)?.content).toContain("quince")
    expect(ofKind(seen, "agent.started")).toHaveLength(2)
    expect(seen.filter((event) => ["resume.failed", "executor.error", "run.interrupted"].includes(event.kind))).toEqual([])
  })
})

/** Only the journal keeps its connection. */
const endReaders = (rewake: Rewake) =>
  readRows(
    rewake.sqlPlace(),
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name <> 'rewake-journal'",
  )

describe("two servers whose PostgreSQL is away for longer than their leases", () => {
  let first: Rewake
  let second: Rewake
  let proxy: TcpProxy
  afterEach(async () => {
    await second?.kill9()
    await first?.stop()
  })

  async function twoServers(): Promise<void> {
    first = await Rewake.start({ database: "postgresql", durations, proxied: true })
    proxy = first.proxy as TcpProxy
    second = await first.secondServer()
  }
  const leases = () => readRows(first.sqlPlace(), "SELECT id, lease_until, fenced_by FROM boots")
  const lapsed = async () => (await leases()).every(({ lease_until }) => String(lease_until) < new Date().toISOString())
  const running = () => [first, second].map(({ child }) => child?.exitCode ?? "running")

  async function sitOut(end: () => unknown): Promise<void> {
    await waitUntil(lapsed, "both leases to lapse")
    const lapsedSince = Date.now()
    await waitUntil(() => Date.now() - lapsedSince > LEASE_MS, "the outage to outlast a lease")
    await end()
  }

  test("both go on with their own sessions when it is back, and neither ends", async () => {
    await twoServers()
    const ofFirst = await first.createTask("count 250 30")
    const ofSecond = await second.createTask("count 250 30")
    const sessions = [ofFirst.session.id, ofSecond.session.id]
    for (const [i, server] of [first, second].entries())
      await server.waitForEvent(sessions[i] as string, (event) => event.kind === "message.delta", "the first number")
    const owners = () => readRows(first.sqlPlace(), "SELECT id, owner_boot_id FROM sessions ORDER BY id")
    const before = await owners()
    expect(new Set(before.map((row) => row.owner_boot_id)).size).toBe(2)

    proxy.cut()
    await sitOut(() => proxy.pass())
    for (const id of sessions) {
      const log = await first.waitForRuns(id, 1)
      expect(agentText(log)).toBe(numbers(250))
      expect(log.map((event) => event.seq)).toEqual(log.map((_, i) => i + 1))
      expect(log.filter((event) => event.kind === "run.interrupted" || event.kind === "run.adopted")).toEqual([])
    }
    expect(await owners()).toEqual(before)
    expect(running()).toEqual(["running", "running"])
  })

  test("one that ended meanwhile loses its sessions to the other, one lease after that has renewed its own", async () => {
    await twoServers()
    const { session } = await first.createTask("count 2000 40")
    await first.waitForEvent(session.id, (event) => event.kind === "message.delta", "the first number")
    const paused = first.child
    proxy.cut()
    paused?.kill("SIGSTOP")
    await sitOut(() => proxy.pass())
    const log = await second.waitForEvent(session.id, (event) => event.kind === "run.adopted", "the other server to take over")
    expect(log.some((event) => event.kind === "run.interrupted")).toBe(false)
    const exited = paused ? once(paused, "exit") : null
    paused?.kill("SIGCONT")
    expect((await exited)?.[0]).toBe(75)
    await second.api("POST", `/api/v1/sessions/${session.id}/cancel`)
    expect(numbers(2000).startsWith(agentText(await second.waitForRuns(session.id, 1)))).toBe(true)
  })

  test("a server whose connections went silent gives them up, and goes on over new ones", async () => {
    await twoServers()
    const { task, session } = await first.createTask("remember quince")
    await first.waitForRuns(session.id, 1)
    const viewer = follow(second, session.id)
    await viewer.until((event) => event.kind === "run.completed", "the first run's end")
    proxy.swallow()
    await sitOut(() => proxy.passNewOnes())
    await waitUntil(
      async () =>
        (await first.api("POST", `/api/v1/tasks/${task.id}/append`, { message: "recall", client_message_id: "c-1" })).status === 202,
      "a message to be accepted",
    )
    await viewer.until(() => ofKind(viewer.seen, "run.completed").length === 2, "the answer, heard of over a new connection")
    expect(ofKind(viewer.seen, "message.agent").at(-1)?.content).toContain("quince")
    expect(running()).toEqual(["running", "running"])
    expect((await leases()).filter(({ fenced_by }) => fenced_by !== null)).toEqual([])
  })
})

import { readFileSync } from "node:fs"
import type { Socket } from "socket.io-client"
import { describe, expect, test } from "vitest"
import { PUSH_NAMES, type PushedEvent, pushNameOf } from "../../lib/contracts/socket"
import type { SessionView } from "../../lib/contracts/task"
import { DATABASES, follow, type Rewake } from "../support/server"
import { useServer } from "../support/use-server"
import { waitUntil } from "../support/wait-until"

type Seen = PushedEvent & { pushed_as: string }
const seqs = (events: readonly { seq: number }[]) => events.map((event) => event.seq)

/** A subscriber from a given cursor, on a connection of its own. */
async function subscriber(rewake: Rewake, sessionId: string, after_seq: number, token?: string) {
  const socket = rewake.socket(token)
  const seen: Seen[] = []
  for (const name of PUSH_NAMES) socket.on(name, (event: PushedEvent) => seen.push({ ...event, pushed_as: name }))
  const ack = await socket.emitWithAck("session.subscribe", { session_id: sessionId, after_seq })
  return { socket, seen, ack: ack as { head_seq: number; generation: string; error?: { code: string } } }
}
/** The bytes beneath socket.io and engine.io: pausing them is a client whose network has stalled. */
const wire = (socket: Socket) =>
  (socket.io.engine as unknown as { transport: { ws: { _socket: import("node:net").Socket } } }).transport.ws._socket
const residentMegabytes = (pid: number) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024

describe.each(DATABASES)("the socket gateway, on %s", (database) => {
  const rewake = useServer({ database })

  test("[1] subscribers who join at any moment of a flood each see every event after their cursor once, in order", async () => {
    const { session } = await rewake.createTask("flood 300")
    const joined: { after: number; seen: Seen[] }[] = []
    const first = await subscriber(rewake, session.id, 0)
    joined.push({ after: 0, seen: first.seen })
    const ended = () => first.seen.some((event) => event.kind === "run.completed")
    // Each joins from somewhere in what the first has seen so far, while more is being appended.
    while (!ended() && joined.length < 40) {
      const known = first.seen.length
      await waitUntil(() => first.seen.length > known || ended(), "more events")
      const after = first.seen[Math.floor(Math.random() * first.seen.length)]?.seq ?? 0
      const { seen, ack } = await subscriber(rewake, session.id, after)
      expect(ack.head_seq).toBeGreaterThanOrEqual(after)
      joined.push({ after, seen })
    }
    await rewake.waitForRuns(session.id, 1)
    await waitUntil(async () => (await rewake.session(session.id)).state === "WAITING_FOR_INPUT", "the session at rest")
    const log = await rewake.events(session.id)
    const last = log.at(-1)?.seq ?? 0
    expect(joined.length).toBeGreaterThan(3)
    for (const { after, seen } of joined) {
      await waitUntil(() => (seen.at(-1)?.seq ?? 0) >= last, "the last event")
      expect(seqs(seen)).toEqual(seqs(log).filter((seq) => seq > after))
    }
    // What was pushed is what the log says, to the letter, with its task.
    expect(first.seen.map(({ pushed_as, task_id, ...event }) => event)).toEqual(log)
    expect(new Set(first.seen.map((event) => event.task_id))).toEqual(new Set([session.task_id]))
  })

  test("each event is pushed once, under the one name of its kind", async () => {
    const { task, session } = await rewake.createTask("think")
    const { seen } = await subscriber(rewake, session.id, 0)
    for (const message of ["plan", "write note.txt hello", "help", "ask Which?"]) await rewake.append(task.id, message)
    await waitUntil(() => seen.find((event) => event.kind === "run.waiting"), "the question")
    const names: Record<string, string[]> = {
      "session.agentctl_starting": ["executor.starting"],
      "session.agentctl_ready": ["executor.ready"],
      "session.agentctl_error": ["executor.error"],
      "session.state_changed": ["session.state_changed", "status.derived"],
      "session.message.added": ["message.user", "message.agent", "message.thought", "tool.call"],
      "session.message.updated": ["message.delta", "tool.update"],
    }
    for (const event of seen) {
      const expected = Object.keys(names).find((name) => names[name]?.includes(event.kind)) ?? "session.event"
      expect([event.kind, event.pushed_as]).toEqual([event.kind, expected])
      expect(pushNameOf(event.kind)).toBe(expected)
    }
    for (const kind of [
      "message.thought",
      "message.delta",
      "tool.call",
      "tool.update",
      "plan.updated",
      "run.waiting",
      "executor.ready",
      "agent.started",
    ]) {
      expect(seen.map((event) => event.kind)).toContain(kind)
    }
    expect(new Set(seqs(seen)).size).toBe(seen.length)
    await rewake.api("POST", `/api/v1/sessions/${session.id}/cancel`, {})
  })

  test("subscribing again from a cursor brings what follows it, and the old subscription is over", async () => {
    const { session } = await rewake.createTask("count 30 5")
    await rewake.waitForRuns(session.id, 1)
    await waitUntil(async () => (await rewake.session(session.id)).state === "WAITING_FOR_INPUT", "the session at rest")
    const log = await rewake.events(session.id)
    const half = log[Math.floor(log.length / 2)]?.seq ?? 0
    const { socket, seen, ack } = await subscriber(rewake, session.id, half)
    expect(ack.head_seq).toBe(log.at(-1)?.seq)
    await waitUntil(() => seen.at(-1)?.seq === log.at(-1)?.seq, "the second half")
    await socket.emitWithAck("session.subscribe", { session_id: session.id, after_seq: 0 })
    await waitUntil(() => seen.length >= log.length - half + log.length, "the whole log")
    expect(seqs(seen)).toEqual([...seqs(log).slice(half), ...seqs(log)])
    // Another generation is another log: whatever the client had seen, it gets all of it.
    seen.length = 0
    await socket.emitWithAck("session.subscribe", { session_id: session.id, after_seq: 999_999, generation: "of another life" })
    await waitUntil(() => seen.length >= log.length, "the whole log")
    expect(seqs(seen)).toEqual(seqs(log))
    await socket.emitWithAck("session.unsubscribe", { session_id: session.id })
    await rewake.append(session.task_id, "hello")
    await rewake.waitForRuns(session.id, 2)
    expect(await socket.emitWithAck("task.session.status", { session_id: session.id })).toMatchObject({ session_id: session.id })
    expect(seen).toHaveLength(log.length)
  })

  test("a connection lost in the middle goes on from its last seq: nothing missing, nothing twice", async () => {
    const { session } = await rewake.createTask("count 120 40")
    const viewer = follow(rewake, session.id)
    for (const count of [15, 40, 80]) {
      await waitUntil(() => viewer.seen.length >= count, "some events")
      viewer.socket.io.engine.close()
      await waitUntil(() => viewer.socket.connected, "the next connection")
    }
    await viewer.until((event) => event.kind === "run.completed", "the end")
    const log = await rewake.events(session.id)
    await viewer.until((event) => event.seq === log.at(-1)?.seq, "the last event")
    expect(seqs(viewer.seen)).toEqual(seqs(log))
  })

  test("task.changed goes to the task's owner, and to nobody else", async () => {
    const { body } = await rewake.api<{ link: string }>("POST", "/api/v1/admin/invitations", { email: "other@example.org", role: "admin" })
    const code = new URL(body.link).searchParams.get("code")
    await rewake.as("")("POST", "/api/v1/invitations/accept", { code, password: "a long enough password" })
    const otherToken = await rewake.issueToken("other@example.org")
    const [mine, others] = [rewake.socket(), rewake.socket(otherToken)]
    const heard = { mine: [] as number[], others: [] as number[] }
    mine.on("task.changed", ({ task_id }: { task_id: number }) => heard.mine.push(task_id))
    others.on("task.changed", ({ task_id }: { task_id: number }) => heard.others.push(task_id))
    await waitUntil(() => mine.connected && others.connected, "both connections")
    const { task, session } = await rewake.createTask("hello")
    await rewake.waitForRuns(session.id, 1)
    await waitUntil(() => heard.mine.includes(task.id), "the owner to hear")
    const otherTask = await rewake.as(otherToken)<{ task: { id: number }; session: SessionView }>("POST", "/api/v1/tasks", {
      message: "hello",
    })
    await waitUntil(() => heard.others.includes(otherTask.body.task.id), "the other owner to hear")
    heard.mine.length = 0
    await rewake.api("PATCH", `/api/v1/tasks/${task.id}`, { title: "Renamed" })
    await waitUntil(() => heard.mine.includes(task.id), "the owner to hear of the new title")
    await others.emitWithAck("task.session.status", { session_id: session.id })
    expect(new Set(heard.others)).toEqual(new Set([otherTask.body.task.id]))
  })

  test("one connection cannot subscribe to everything: beyond a hundred sessions it is refused, and told so", async () => {
    const socket = rewake.socket()
    const { session, task } = await rewake.createTask("hello")
    await rewake.waitForRuns(session.id, 1)
    const made: string[] = [session.id]
    while (made.length < 101) made.push((await rewake.api<SessionView>("POST", `/api/v1/tasks/${task.id}/sessions`, {})).body.id)
    const acks = await Promise.all(made.map((id) => socket.emitWithAck("session.subscribe", { session_id: id, after_seq: 0 })))
    expect(acks.filter((ack) => ack.error?.code === "RATE_LIMITED")).toHaveLength(1)
    expect(acks.filter((ack) => typeof ack.head_seq === "number")).toHaveLength(100)
  })
})

// One database: the log that they are caught up from is read in the same way from both, as the tests above show.
describe("clients whose network has stalled", () => {
  const rewake = useServer()

  test("they cost the server little memory, and are caught up in order once they listen again", async () => {
    const { task, session } = await rewake.createTask("flood 3000")
    const pid = rewake.child?.pid as number
    const ended = (runs: number) =>
      waitUntil(async () => {
        // In this order: a message leaves the queue in the commit that makes the session run.
        const { prompts } = (await rewake.api<{ prompts: unknown[] }>("GET", `/api/v1/sessions/${session.id}/queue`)).body
        const view = await rewake.session(session.id)
        return view.state === "WAITING_FOR_INPUT" && prompts.length === 0 && view.last_seq > runs * 100
      }, "the flood to end")
    // The first flood, with nobody listening, is what the flood itself costs.
    await ended(1)
    const head = (await rewake.session(session.id)).last_seq
    const stalled = await Promise.all(Array.from({ length: 25 }, () => subscriber(rewake, session.id, head)))
    for (const { socket } of stalled) wire(socket).pause()
    const before = residentMegabytes(pid)
    // 3,000 updates of 4 KiB: kept for each of the clients they would be 300 MB.
    await rewake.append(task.id, "flood 3000")
    await ended(2)
    const grown = residentMegabytes(pid) - before
    for (const { seen } of stalled) expect(seen.some((event) => event.kind === "run.completed")).toBe(false)
    for (const { socket } of stalled) wire(socket).resume()
    const log = (await rewake.events(session.id)).filter((event) => event.seq > head)
    for (const { seen } of stalled) {
      await waitUntil(() => seen.length >= log.length, "everything")
      expect(seqs(seen)).toEqual(seqs(log))
    }
    expect(grown).toBeLessThan(180)
  })
})

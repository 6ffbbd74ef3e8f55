import { describe, expect, test } from "vitest"
import type { SessionEvent } from "../../lib/contracts/events"
import type { SessionView } from "../../lib/contracts/task"
import { ofKind } from "../support/events"
import { agentText, numbers, type Rewake } from "../support/server"
import { useServers } from "../support/use-servers"
import { allowUsers, createUser } from "../support/users"
import { waitUntil } from "../support/wait-until"

const start = useServers()
let rewake: Rewake

/** The most agents that ran at once, by the order in which the journal learned of their starts and ends. */
function mostAtOnce(logs: readonly SessionEvent[][]): number {
  const steps = logs
    .flat()
    .flatMap((event) =>
      event.kind === "agent.started" ? [{ ts: event.ts, by: 1 }] : event.kind === "agent.exited" ? [{ ts: event.ts, by: -1 }] : [],
    )
    .sort((a, b) => a.ts.localeCompare(b.ts) || a.by - b.by)
  let running = 0
  return Math.max(...steps.map(({ by }) => (running += by)))
}
const untilWorking = (id: string) => rewake.waitForEvent(id, (event) => event.kind === "message.delta", "the agent at work")
const cancel = (id: string) => rewake.api("POST", `/api/v1/sessions/${id}/cancel`, {})
const placed = (id: string) => waitUntil(async () => (await rewake.session(id)).start_place, "a place in line")

describe("as many agents run as MAX_RUNNING_AGENTS allows", () => {
  test("twelve tasks at once are all answered, never more than three agents at a time", async () => {
    rewake = await start({ env: { MAX_RUNNING_AGENTS: "3" } })
    const made = await Promise.all(Array.from({ length: 12 }, () => rewake.createTask("count 20 10")))
    const logs = await Promise.all(made.map(({ session }) => rewake.waitForRuns(session.id, 1)))
    for (const log of logs) expect(agentText(log)).toBe(numbers(20))
    expect(mostAtOnce(await Promise.all(made.map(({ session }) => rewake.events(session.id))))).toBe(3)
  })

  test("the agent idle longest gives up its process, and remembers when its session is used again", async () => {
    rewake = await start({ env: { MAX_RUNNING_AGENTS: "2" } })
    const first = await rewake.createTask("remember quince")
    await rewake.waitForRuns(first.session.id, 1)
    const second = await rewake.createTask("remember medlar")
    await rewake.waitForRuns(second.session.id, 1)
    const third = await rewake.createTask("hello")
    await rewake.waitForRuns(third.session.id, 1)
    await rewake.waitForEvent(first.session.id, (event) => event.kind === "agent.exited", "the idle agent's end")
    expect((await rewake.events(second.session.id)).some((event) => event.kind === "agent.exited")).toBe(false)
    expect(await rewake.session(first.session.id)).toMatchObject({ state: "WAITING_FOR_INPUT", start_place: null })
    await rewake.append(first.task.id, "recall")
    expect(agentText(await rewake.waitForRuns(first.session.id, 2))).toContain("quince")
  })

  test("where none is idle a session waits with its place shown, and a user with fewer agents goes first", async () => {
    rewake = await start({ env: { MAX_RUNNING_AGENTS: "2" } })
    await allowUsers(rewake, true)
    const other = await createUser(rewake)
    const busy = [await rewake.createTask("hang"), await rewake.createTask("hang")]
    for (const { session } of busy) await untilWorking(session.id)
    const mine = await rewake.createTask("hang")
    expect(await placed(mine.session.id)).toEqual({ position: 1, waiting: 1 })
    const theirs = (await rewake.as(other.token)<{ session: SessionView }>("POST", "/api/v1/tasks", { message: "hang" })).body.session
    await waitUntil(async () => (await rewake.session(mine.session.id)).start_place?.position === 2, "the place behind the other user")
    expect((await rewake.as(other.token)<SessionView>("GET", `/api/v1/sessions/${theirs.id}`)).body.start_place).toEqual({
      position: 1,
      waiting: 2,
    })

    await cancel(busy[0]?.session.id ?? "")
    await waitUntil(async () => (await rewake.session(mine.session.id)).start_place?.position === 1, "the other user's turn")
    expect((await rewake.events(mine.session.id)).some((event) => event.kind === "agent.started")).toBe(false)
    await cancel(busy[1]?.session.id ?? "")
    await untilWorking(mine.session.id)
    expect((await rewake.session(mine.session.id)).start_place).toBeNull()
    await other.api("DELETE", `/api/v1/tasks/${theirs.task_id}`)
  })

  test("a session that waits keeps its place in line when it is sent a further message", async () => {
    rewake = await start({ env: { MAX_RUNNING_AGENTS: "2" } })
    for (const { session } of [await rewake.createTask("hang"), await rewake.createTask("hang")]) await untilWorking(session.id)
    const first = await rewake.createTask("hang")
    await placed(first.session.id)
    const second = await rewake.createTask("hang")
    await placed(second.session.id)
    await rewake.append(first.task.id, "recall")
    const third = await rewake.createTask("hang")
    expect(await placed(third.session.id)).toEqual({ position: 3, waiting: 3 })
    expect((await rewake.session(first.session.id)).start_place).toEqual({ position: 1, waiting: 3 })
  })

  test("a fresh start that waits stays one when a message comes after it", async () => {
    rewake = await start({ env: { MAX_RUNNING_AGENTS: "1" } })
    const { task, session } = await rewake.createTask("remember quince")
    await rewake.waitForRuns(session.id, 1)
    const busy = await rewake.createTask("hang")
    await untilWorking(busy.session.id)
    await rewake.api("POST", `/api/v1/sessions/${session.id}/resume`, { fresh: true })
    await placed(session.id)
    await rewake.append(task.id, "recall")
    await cancel(busy.session.id)
    const log = await rewake.waitForRuns(session.id, 2)
    expect(ofKind(log, "agent.started").map(({ strategy }) => strategy)).toEqual(["new", "idle"])
    expect(ofKind(log, "message.agent").at(-1)?.content).not.toContain("quince")
  })

  test("adopted agents count and go on, also above a lower number, and a waiting message survives the restart", async () => {
    rewake = await start({ env: { MAX_RUNNING_AGENTS: "2" } })
    const working = [await rewake.createTask("count 400 20"), await rewake.createTask("count 400 20")]
    for (const { session } of working) await untilWorking(session.id)
    rewake.env.MAX_RUNNING_AGENTS = "1"
    const waiting = await rewake.createTask("count 5 1")
    await placed(waiting.session.id)
    await rewake.restart()
    await placed(waiting.session.id)
    for (const { session } of working) {
      const log = await rewake.waitForRuns(session.id, 1)
      expect(agentText(log)).toBe(numbers(400))
      expect(log.filter((event) => event.kind === "agent.started")).toHaveLength(1)
    }
    expect(agentText(await rewake.waitForRuns(waiting.session.id, 1))).toBe(numbers(5))
    rewake.env.MAX_RUNNING_AGENTS = "2"
  })
})

import { describe, expect, test } from "vitest"
import type { SessionEvent } from "../../lib/contracts/events"
import type { SessionView } from "../../lib/contracts/task"
import { agentText } from "../support/server"
import { useServer } from "../support/use-server"

describe("a conversation goes on in another session", () => {
  const rewake = useServer({ database: "postgresql" })

  const goOn = (taskId: number, from: string, agent: string) =>
    rewake.api<SessionView>("POST", `/api/v1/tasks/${taskId}/sessions`, { agent, from_session_id: from })
  const say = (taskId: number, session: string, message: string) =>
    rewake.api("POST", `/api/v1/tasks/${taskId}/append`, { session_id: session, message })
  const kinds = (log: readonly SessionEvent[]) => log.map((event) => event.kind)
  async function told(word: string) {
    const { task, session } = await rewake.createTask(`remember ${word}`, { agent: "demo" })
    await rewake.waitForRuns(session.id, 1)
    return { task, session }
  }

  test("another agent is told what was said, once, and goes on from there", async () => {
    const { task, session } = await told("pear")
    const other = (await goOn(task.id, session.id, "demo-inject")).body
    await say(task.id, other.id, "recall")
    const log = await rewake.waitForRuns(other.id, 1)
    expect(log[1]).toMatchObject({ kind: "session.continued", from_session_id: session.id, from_agent: "demo" })
    expect(agentText(log)).toContain("pear")
    // The message is shown as it was written; the history is in what the agent was given.
    expect(log.find((event) => event.kind === "message.user")).toMatchObject({ content: "recall" })
    await say(task.id, other.id, "remember quince")
    await rewake.waitForRuns(other.id, 2)

    const third = (await goOn(task.id, other.id, "demo-inject")).body
    await say(task.id, third.id, "recall")
    const words = agentText(await rewake.waitForRuns(third.id, 1))
    expect(words).toContain("pear")
    expect(words).toContain("quince")
  })

  test("killed before its first message, it is still told", async () => {
    const { task, session } = await told("fig")
    const other = (await goOn(task.id, session.id, "demo-inject")).body
    await rewake.api("POST", `/api/v1/sessions/${other.id}/resume`, {})
    await rewake.waitForEvent(other.id, (event) => event.kind === "agent.started", "its agent")
    rewake.killDaemon()
    await rewake.restart()
    await say(task.id, other.id, "recall")
    expect(agentText(await rewake.waitForRuns(other.id, 1))).toContain("fig")
  })

  test("what is said in the first session afterwards stays there", async () => {
    const { task, session } = await told("plum")
    const other = (await goOn(task.id, session.id, "demo-inject")).body
    await say(task.id, session.id, "remember sloe")
    await rewake.waitForRuns(session.id, 2)
    await say(task.id, other.id, "recall")
    const words = agentText(await rewake.waitForRuns(other.id, 1))
    expect(words).toContain("plum")
    expect(words).not.toContain("sloe")
  })

  test("an agent that cannot be given a history begins without one; a session of another task is not to be had", async () => {
    const { task, session } = await told("lime")
    const other = (await goOn(task.id, session.id, "demo")).body
    await say(task.id, other.id, "recall")
    const log = await rewake.waitForRuns(other.id, 1)
    expect(kinds(log)).not.toContain("session.continued")
    expect(agentText(log)).not.toContain("lime")
    const elsewhere = await told("kiwi")
    expect(await goOn(task.id, elsewhere.session.id, "demo-inject")).toMatchObject({ status: 404, body: { code: "NOT_FOUND" } })
  })
})

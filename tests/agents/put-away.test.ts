import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { REAL_AGENTS } from "./agents"
import { lastReceipt, ofKind, openWorkbench, type Workbench } from "./workbench"

describe.each(REAL_AGENTS)("$id, put away", (agent) => {
  let bench: Workbench
  beforeAll(async () => {
    bench = await openWorkbench(agent, { APPEND_CHAT_TASK_EXPIRE_HOURS: String(2 / 3600), REAPER_INTERVAL_SECONDS: "1" })
  })
  afterAll(() => bench?.stop())

  test("its own memory is in the archive: with the folder and what the agent kept gone, it still knows the codeword", async () => {
    const { rewake, model, home } = bench
    const { task, session } = await rewake.createTask("Remember the codeword nougat-4418.", { agent: agent.id })
    const log = await rewake.waitForEvent(session.id, (event) => event.kind === "executor.deleted", "the task to be put away")
    agent.loseSession(home, ofKind(log, "agent.session_announced").at(-1)?.agent_session_id ?? "")
    const restored = await rewake.api("POST", `/api/v1/tasks/${task.id}/restore`, { message: "What was the codeword?" })
    expect(restored).toMatchObject({ status: 200, body: { success: true, executor_rebuilt: true } })
    const after = await rewake.waitForRuns(session.id, 2)
    expect(ofKind(after, "archive.restored").at(-1)?.notes ?? []).toEqual([])
    expect(lastReceipt(after)?.agent_memory).toBe("native")
    const [asked] = model.asked("What was the codeword?")
    expect(asked?.body).toContain("nougat-4418")
    // From its own memory: the message itself carried no history.
    expect(asked?.conversation.said.filter(({ text }) => text.includes("What was") && text.includes("nougat"))).toEqual([])
  })
})

import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { ofKind } from "../support/events"
import { archiveTask } from "../support/expiry"
import type { RealAgent } from "./agents"
import { lastReceipt, openWorkbench, type Workbench } from "./workbench"

/** An agent whose executor was archived and deleted. */
export const testArchive = (agent: RealAgent) =>
  describe(`${agent.id}, archived`, () => {
    let bench: Workbench
    beforeAll(async () => {
      bench = await openWorkbench(agent)
    })
    afterAll(() => bench?.stop())

    test("knows the codeword from the archive when its folder and its own memory are gone", async () => {
      const { rewake, model, home } = bench
      const { task, session } = await rewake.createTask("Remember the codeword nougat-4418.", { agent: agent.id })
      await rewake.waitForRuns(session.id, 1)
      const log = await archiveTask(rewake, task.id, session.id)
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

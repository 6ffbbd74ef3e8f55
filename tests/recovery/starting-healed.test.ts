import { afterEach, describe, expect, test } from "vitest"
import type { SessionStatusReport } from "../../lib/contracts/status"
import { agentText, Rewake } from "../support/server"
import { runSql } from "../support/sql"
import { waitUntil } from "../support/wait-until"

describe("a session that says STARTING while nobody is at it", () => {
  let rewake: Rewake
  afterEach(() => rewake.stop())

  /** What a defect, or a fault nobody thought of, might leave behind; behind the server's back, and found by no sweep of it. */
  const pretendStarting = (sessionId: string) =>
    runSql(rewake.sqlPlace(), "UPDATE sessions SET state = 'STARTING' WHERE id = ?", [sessionId])
  const status = async (id: string) => (await rewake.api<SessionStatusReport>("GET", `/api/v1/sessions/${id}/status`)).body

  test("[6] is healed by the question for its status, and takes messages again", async () => {
    rewake = await Rewake.start({ database: "postgresql" })
    const { task, session } = await rewake.createTask("remember nut")
    await rewake.waitForRuns(session.id, 1)
    await pretendStarting(session.id)
    await waitUntil(async () => (await status(session.id)).state === "WAITING_FOR_INPUT", "the state to be healed")
    await rewake.append(task.id, "recall")
    const log = await rewake.waitForRuns(session.id, 2)
    expect(agentText(log)).toContain("I remember: nut")
    expect(log.filter((event) => event.kind === "agent.started")).toHaveLength(1)
  })
})

import { describe, expect, test } from "vitest"
import type { RestorePreview, RestoreResult } from "../../lib/contracts/restore"
import type { TaskView } from "../../lib/contracts/task"
import { expireTask } from "../support/expiry"
import { agentText, DATABASES } from "../support/server"
import { useServer } from "../support/use-server"
import { waitUntil } from "../support/wait-until"

describe.each(DATABASES)("a task that has expired, its executor still there, on %s", (database) => {
  const rewake = useServer({ database })

  const restore = (taskId: number, body: object = {}) => rewake.api<RestoreResult>("POST", `/api/v1/tasks/${taskId}/restore`, body)
  const said = async (sessionId: string, text: string) =>
    (await rewake.events(sessionId)).filter((event) => event.kind === "message.user" && event.content === text)

  async function expired(message = "remember plum") {
    const made = await rewake.createTask(message)
    await rewake.waitForRuns(made.session.id, 1)
    await waitUntil(async () => (await rewake.session(made.session.id)).state === "WAITING_FOR_INPUT", "a session at rest")
    await expireTask(rewake, made.task.id)
    return made
  }

  test("append answers 409 with exactly what the dialog needs, and changes nothing", async () => {
    const { task, session } = await expired()
    const before = await rewake.events(session.id)
    const answer = await rewake.api("POST", `/api/v1/tasks/${task.id}/append`, { message: "recall" })
    expect(answer.status).toBe(409)
    expect(answer.body).toEqual({
      code: "TASK_EXPIRED_RESTORABLE",
      task_id: task.id,
      task_type: "chat",
      expire_hours: 2,
      last_updated_at: expect.stringMatching(/^\d{4}-.*Z$/),
      message: "chat task has expired but can be restored",
      reason: "expired",
    })
    expect(await rewake.events(session.id)).toEqual(before)
    expect((await rewake.api<TaskView>("GET", `/api/v1/tasks/${task.id}`)).body.state).toBe("REVIEW")
  })

  test("restore keeps the living executor, sends the message once, and the same agent answers", async () => {
    const { task, session } = await expired("remember quince")
    const preview = (await rewake.api<RestorePreview>("GET", `/api/v1/tasks/${task.id}/restore`)).body
    expect(preview).toMatchObject({ session_id: session.id, reason: "expired", files: { kind: "kept" }, memory: "kept", progress: null })

    const both = await Promise.all([restore(task.id, { message: "recall" }), restore(task.id, { message: "recall" })])
    expect(both.map(({ status }) => status)).toEqual([200, 200])
    expect(both[0]?.body).toEqual(both[1]?.body)
    expect(both[0]?.body).toMatchObject({ success: true, task_id: task.id, task_type: "chat", executor_rebuilt: false })
    const log = await rewake.waitForRuns(session.id, 2)
    expect(agentText(log)).toContain("quince")
    expect(await said(session.id, "recall")).toHaveLength(1)
    expect(log.filter((event) => event.kind === "agent.started")).toHaveLength(1)

    // The same click once more, after all is done.
    expect((await restore(task.id, { message: "recall" })).body).toEqual(both[0]?.body)
    expect(await said(session.id, "recall")).toHaveLength(1)
  })

  test("one id is one message: the same text again is the same, another text is refused", async () => {
    const { task, session } = await expired()
    const first = await restore(task.id, { message: "recall", client_message_id: "c-1" })
    expect(first.status).toBe(200)
    expect((await restore(task.id, { message: "recall", client_message_id: "c-1" })).body).toEqual(first.body)
    const other = await restore(task.id, { message: "something else", client_message_id: "c-1" })
    expect([other.status, (other.body as unknown as { code: string }).code]).toEqual([409, "IDEMPOTENCY_CONFLICT"])
    await rewake.waitForRuns(session.id, 2)
    expect(await said(session.id, "recall")).toHaveLength(1)
    // An append that is repeated after the restore is the message that was sent with it.
    const appended = await rewake.append(task.id, "recall", { client_message_id: "c-1" })
    expect(appended.session_id).toBe(session.id)
    expect(await said(session.id, "recall")).toHaveLength(1)
  })

  test("two tabs with different messages restore once, and both are sent", async () => {
    const { task, session } = await expired()
    const both = await Promise.all([restore(task.id, { message: "remember a" }), restore(task.id, { message: "remember b" })])
    expect(both[0]?.body).toEqual(both[1]?.body)
    await rewake.waitForRuns(session.id, 3)
    expect(await said(session.id, "remember a")).toHaveLength(1)
    expect(await said(session.id, "remember b")).toHaveLength(1)
  })

  test("a task that has not expired is not restored; a completed one is reopened", async () => {
    const { task, session } = await rewake.createTask("hang")
    await rewake.waitForEvent(session.id, (event) => event.kind === "message.delta", "the busy agent")
    const refused = await restore(task.id)
    expect([refused.status, (refused.body as unknown as { code: string }).code]).toEqual([409, "TASK_NOT_RESTORABLE"])
    // An open run keeps it for as long as it takes.
    expect((await rewake.api<TaskView>("GET", `/api/v1/tasks/${task.id}`)).body.expires_at).toBeNull()
    await rewake.api("POST", `/api/v1/sessions/${session.id}/cancel`)
    await rewake.waitForRuns(session.id, 1)

    await rewake.api("PATCH", `/api/v1/tasks/${task.id}`, { state: "COMPLETED" })
    expect((await restore(task.id)).body).toMatchObject({ success: true, executor_rebuilt: false })
    expect((await rewake.api<TaskView>("GET", `/api/v1/tasks/${task.id}`)).body.state).toBe("REVIEW")
  })

  test("bad input and other people's tasks get their codes", async () => {
    const { task } = await expired()
    expect((await restore(task.id, { message: "" })).status).toBe(400)
    expect((await restore(task.id, { client_message_id: "a\u0000b", message: "x" })).status).toBe(400)
    expect((await restore(999_999)).status).toBe(404)
    expect((await rewake.as("nobody")("POST", `/api/v1/tasks/${task.id}/restore`, {})).status).toBe(401)
  })
})

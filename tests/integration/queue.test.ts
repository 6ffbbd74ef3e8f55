import { describe, expect, test } from "vitest"
import type { EventOf, SessionEvent } from "../../lib/contracts/events"
import { isTerminalKind } from "../../lib/contracts/events"
import type { AppendResult, QueuedPrompt } from "../../lib/contracts/task"
import { agentText, DATABASES, numbers } from "../support/server"
import { useServer } from "../support/use-server"
import { waitUntil } from "../support/wait-until"

describe.each(DATABASES)("the queue of a session, on %s", (database) => {
  const rewake = useServer({ database, env: { QUEUE_MAX: "3" } })

  /** A session whose agent is busy until it is told to stop: what is appended meanwhile stays in the queue. */
  async function busySession() {
    const { task, session } = await rewake.createTask("hang")
    await rewake.waitForEvent(session.id, (event) => event.kind === "message.delta", "the agent to be busy")
    return { task, session }
  }
  const cancel = (sessionId: string) => rewake.api("POST", `/api/v1/sessions/${sessionId}/cancel`, {})
  const queueOf = async (sessionId: string) =>
    (await rewake.api<{ prompts: QueuedPrompt[] }>("GET", `/api/v1/sessions/${sessionId}/queue`)).body.prompts
  const append = (taskId: number, message: string, client_message_id?: string) =>
    rewake.api<AppendResult & { code?: string }>("POST", `/api/v1/tasks/${taskId}/append`, { message, client_message_id })
  const change = (sessionId: string, promptId: string, patch: object) =>
    rewake.api<{ prompts: QueuedPrompt[]; code?: string; prompt_id?: string }>(
      "PATCH",
      `/api/v1/sessions/${sessionId}/queue/${promptId}`,
      patch,
    )
  const withdraw = (sessionId: string, promptId: string) => rewake.api("DELETE", `/api/v1/sessions/${sessionId}/queue/${promptId}`)

  test("[L1] messages are delivered in the order they were accepted, each once", async () => {
    const { task, session } = await busySession()
    const sent = [
      await rewake.append(task.id, "remember one"),
      await rewake.append(task.id, "remember two"),
      await rewake.append(task.id, "recall"),
    ]
    expect(sent.map((one) => one.queue_position)).toEqual([0, 1, 2])
    expect((await queueOf(session.id)).map(({ message, position }) => [message, position])).toEqual([
      ["remember one", 0],
      ["remember two", 1],
      ["recall", 2],
    ])
    await cancel(session.id)
    const log = await rewake.waitForRuns(session.id, 4)
    expect(deliveries(log).slice(1)).toEqual(sent.map((one) => one.prompt_id))
    expect(agentText(log)).toContain("I remember: one, two")
    expect(await queueOf(session.id)).toEqual([])
    expectOneRunAtATime(log)
  })

  test("a queued message can be edited, moved and withdrawn, and the agent gets what is left", async () => {
    const { task, session } = await busySession()
    const first = await rewake.append(task.id, "remember wrong")
    const second = await rewake.append(task.id, "remember b")
    const third = await rewake.append(task.id, "remember never")
    expect((await change(session.id, first.prompt_id, { message: "remember a" })).body.prompts[0]?.message).toBe("remember a")
    const moved = await change(session.id, second.prompt_id, { position: 0 })
    expect(moved.body.prompts.map((prompt) => prompt.prompt_id)).toEqual([second, first, third].map((one) => one.prompt_id))
    const both = await change(session.id, first.prompt_id, { message: "remember a again", position: 99 })
    expect(both.body.prompts.map((prompt) => prompt.message)).toEqual(["remember b", "remember never", "remember a again"])
    expect((await withdraw(session.id, third.prompt_id)).status).toBe(204)
    await cancel(session.id)
    const log = await rewake.waitForRuns(session.id, 3)
    expect(deliveries(log).slice(1)).toEqual([second.prompt_id, first.prompt_id])
    expect(agentText(log)).toMatch(/remember b\.[\s\S]*remember a\./)
    expect(log.some((event) => event.kind === "prompt.withdrawn" && event.prompt_id === third.prompt_id)).toBe(true)
    expect(log.some((event) => event.kind === "prompt.edited" && event.content === "remember a again")).toBe(true)
  })

  test("a message on its way or withdrawn can be changed no more: 409 PROMPT_NOT_QUEUED, and nothing is written", async () => {
    const { task, session } = await busySession()
    const [running] = deliveries(await rewake.events(session.id))
    const gone = await rewake.append(task.id, "never")
    await withdraw(session.id, gone.prompt_id)
    const before = (await rewake.session(session.id)).last_seq
    for (const prompt_id of [running as string, gone.prompt_id]) {
      for (const answer of [
        await change(session.id, prompt_id, { message: "other" }),
        await change(session.id, prompt_id, { position: 0 }),
        await withdraw(session.id, prompt_id),
      ]) {
        expect(answer).toMatchObject({ status: 409, body: { code: "PROMPT_NOT_QUEUED", prompt_id } })
      }
    }
    expect((await rewake.session(session.id)).last_seq).toBe(before)
    await cancel(session.id)
    await rewake.waitForRuns(session.id, 1)
  })

  test("edit, withdraw and delivery race: each message is delivered as last acknowledged, or not at all", async () => {
    const { task, session } = await busySession()
    const sent = [await rewake.append(task.id, "one"), await rewake.append(task.id, "two"), await rewake.append(task.id, "three")]
    const [, edits, withdrawals] = await Promise.all([
      cancel(session.id),
      Promise.all(sent.map(({ prompt_id }) => change(session.id, prompt_id, { message: `edited ${prompt_id}` }))),
      Promise.all(sent.slice(2).map(({ prompt_id }) => withdraw(session.id, prompt_id))),
    ])
    await waitUntil(async () => (await queueOf(session.id)).length === 0, "an empty queue")
    const log = await atRest(session.id)
    for (const [i, { prompt_id }] of sent.entries()) {
      const delivered = deliveries(log).filter((id) => id === prompt_id).length
      const withdrawn = i === 2 && withdrawals[0]?.status === 204
      expect(delivered).toBe(withdrawn ? 0 : 1)
      const edited = log.find((event) => event.kind === "prompt.edited" && event.prompt_id === prompt_id)
      expect(edited !== undefined).toBe(edits[i]?.status === 200)
    }
  })

  test("a full queue refuses the next message with its limit, and takes one again when there is room", async () => {
    const { task, session } = await busySession()
    const sent: AppendResult[] = []
    for (const word of ["a", "b", "c"]) sent.push(await rewake.append(task.id, word))
    const before = (await rewake.session(session.id)).last_seq
    expect(await append(task.id, "d")).toMatchObject({ status: 429, body: { code: "QUEUE_FULL", limit: 3 } })
    expect((await rewake.session(session.id)).last_seq).toBe(before)
    await withdraw(session.id, (sent[0] as AppendResult).prompt_id)
    expect((await append(task.id, "d")).status).toBe(202)
    await cancel(session.id)
    await rewake.waitForRuns(session.id, 4)
  })

  test("messages that arrive all at once neither overfill the queue nor share a place in it", async () => {
    const { task, session } = await busySession()
    const answers = await Promise.all(Array.from({ length: 10 }, (_, i) => append(task.id, `at once ${i}`)))
    expect(answers.filter((answer) => answer.status === 202)).toHaveLength(3)
    expect(answers.filter((answer) => answer.status === 429)).toHaveLength(7)
    const queue = await queueOf(session.id)
    const [first, second, third] = queue.map((prompt) => prompt.prompt_id) as [string, string, string]
    const moved = await change(session.id, third, { position: 1 })
    expect(moved.body.prompts.map((prompt) => prompt.prompt_id)).toEqual([first, third, second])
    await cancel(session.id)
    expect(deliveries(await rewake.waitForRuns(session.id, 4)).slice(1)).toEqual([first, third, second])
  })

  test("[L1] the same client_message_id is the same message: retried, raced, and after its delivery", async () => {
    const { task, session } = await busySession()
    const raced = await Promise.all(Array.from({ length: 8 }, () => append(task.id, "remember once", "id-1")))
    expect(raced.map((answer) => answer.status)).toEqual(Array(8).fill(202))
    expect(new Set(raced.map(({ body }) => `${body.prompt_id} ${body.message_id} ${body.session_id}`)).size).toBe(1)
    expect(await queueOf(session.id)).toHaveLength(1)
    await cancel(session.id)
    await rewake.waitForRuns(session.id, 2)
    const again = await append(task.id, "remember once", "id-1")
    expect(again).toMatchObject({ status: 202, body: { prompt_id: raced[0]?.body.prompt_id } })
    const log = await atRest(session.id)
    expect(log.filter((event) => event.kind === "message.user" && event.content === "remember once")).toHaveLength(1)
    expect(deliveries(log)).toHaveLength(2)
  })

  test("a client_message_id reused for other text is refused; edited since, the first text still counts", async () => {
    const { task, session } = await busySession()
    const first = await append(task.id, "the text", "id-2")
    expect(await append(task.id, "other text", "id-2")).toMatchObject({ status: 409, body: { code: "IDEMPOTENCY_CONFLICT" } })
    await change(session.id, first.body.prompt_id, { message: "edited" })
    expect(await append(task.id, "the text", "id-2")).toMatchObject({ status: 202, body: { prompt_id: first.body.prompt_id } })
    expect(await append(task.id, "edited", "id-2")).toMatchObject({ status: 409, body: { code: "IDEMPOTENCY_CONFLICT" } })
    expect((await queueOf(session.id)).map((prompt) => prompt.message)).toEqual(["edited"])
    // An id belongs to its task: another task may use it for something else.
    const { task: other, session: otherSession } = await rewake.createTask("hello")
    expect((await append(other.id, "other text", "id-2")).status).toBe(202)
    await rewake.waitForRuns(otherSession.id, 2)
    await cancel(session.id)
    await rewake.waitForRuns(session.id, 2)
  })

  test("a retried append is the same append even when the queue is full", async () => {
    const { task, session } = await busySession()
    const sent = [await append(task.id, "a", "full-1"), await append(task.id, "b"), await append(task.id, "c")]
    expect(await append(task.id, "a", "full-1")).toMatchObject({ status: 202, body: { prompt_id: sent[0]?.body.prompt_id } })
    await cancel(session.id)
    await rewake.waitForRuns(session.id, 4)
  })

  test("cancel ends the run as run.cancelled, marks what was cut off, and the queue goes on", async () => {
    const { task, session } = await rewake.createTask("count 1000 20")
    await rewake.waitForEvent(session.id, (event) => event.kind === "message.delta", "the first number")
    await rewake.append(task.id, "remember after")
    expect(await cancel(session.id)).toMatchObject({ status: 202, body: { cancelling: true } })
    const log = await rewake.waitForRuns(session.id, 2)
    const ends = log.filter((event) => isTerminalKind(event.kind)).map((event) => event.kind)
    expect(ends).toEqual(["run.cancelled", "run.completed"])
    const cut = log.find((event): event is EventOf<"message.agent"> => event.kind === "message.agent")
    expect(cut?.partial).toBe(true)
    expect(numbers(1000).startsWith(cut?.content ?? "?")).toBe(true)
    await atRest(session.id)
    expect(await cancel(session.id)).toMatchObject({ status: 202, body: { cancelling: false } })
    expect((await rewake.session(session.id)).status).toBe("idle")
  })

  test("cancel asked for many times at once is asked for once", async () => {
    const { session } = await busySession()
    await Promise.all(Array.from({ length: 6 }, () => cancel(session.id)))
    const log = await rewake.waitForRuns(session.id, 1)
    expect(log.filter((event) => event.kind === "run.cancel_requested")).toHaveLength(1)
    expect(log.filter((event) => event.kind === "run.cancelled")).toHaveLength(1)
  })

  test("at most one run is open at any time, however messages pour in", async () => {
    const { task, session } = await rewake.createTask("hello")
    await Promise.all(
      Array.from({ length: 12 }, async (_, i) => {
        await waitUntil(async () => (await append(task.id, `remember w${i}`, `pour-${i}`)).status === 202, "room in the queue")
      }),
    )
    const log = await rewake.waitForRuns(session.id, 13)
    expectOneRunAtATime(log)
    expect(new Set(deliveries(log)).size).toBe(13)
    expect(deliveries(log)).toHaveLength(13)
    expect(log.map((event) => event.seq)).toEqual(log.map((_, i) => i + 1))
  })

  test("a fresh message while a run waits takes the question back, cancels the run and goes next", async () => {
    const { task, session } = await rewake.createTask("ask Which one?")
    await rewake.waitForEvent(session.id, (event) => event.kind === "run.waiting", "the question")
    const [wait] = (await rewake.session(session.id)).waits
    const fresh = await rewake.append(task.id, "remember instead")
    expect(fresh.queue_position).toBe(0)
    const log = await rewake.waitForRuns(session.id, 2)
    const asked = log.findIndex((event) => event.kind === "message.user" && event.content === "remember instead")
    expect(log.slice(asked, asked + 4).map((event) => event.kind)).toEqual([
      "message.user",
      "prompt.queued",
      "token.revoked",
      "run.cancel_requested",
    ])
    const rest = log.slice(asked + 4).map((event) => event.kind)
    expect(rest.indexOf("run.cancelled")).toBeGreaterThanOrEqual(0)
    expect(rest.indexOf("run.cancelled")).toBeLessThan(rest.indexOf("prompt.delivering"))
    expect(log.filter((event) => isTerminalKind(event.kind)).map((event) => event.kind)).toEqual(["run.cancelled", "run.completed"])
    expect(deliveries(log).at(-1)).toBe(fresh.prompt_id)
    const late = await rewake.api("POST", `/api/v1/sessions/${session.id}/waits/${wait?.token_id}`, {
      secret: wait?.secret,
      outcome: { kind: "selected", option_id: wait?.options[0]?.id },
    })
    expect(late).toMatchObject({ status: 409, body: { code: "RESUME_TOKEN_REJECTED", reason: "revoked" } })
    expect((await rewake.session(session.id)).waits).toEqual([])
    expectOneRunAtATime(log)
  })

  test("a fresh message while a run waits goes before what was queued", async () => {
    const { task, session } = await rewake.createTask("count 20 20")
    await rewake.append(task.id, "ask Which one?")
    const later = await rewake.append(task.id, "recall")
    await rewake.waitForEvent(session.id, (event) => event.kind === "run.waiting", "the question")
    const fresh = await rewake.append(task.id, "remember first")
    const log = await rewake.waitForRuns(session.id, 4)
    expect(deliveries(log).slice(-2)).toEqual([fresh.prompt_id, later.prompt_id])
    expect(agentText(log)).toContain("I remember: first")
  })

  async function atRest(sessionId: string): Promise<SessionEvent[]> {
    await waitUntil(async () => {
      // In this order: a message leaves the queue in the commit that makes the session run.
      const queued = await queueOf(sessionId)
      const { state } = await rewake.session(sessionId)
      return queued.length === 0 && state === "WAITING_FOR_INPUT"
    }, "the session at rest")
    return rewake.events(sessionId)
  }
})

const deliveries = (log: readonly SessionEvent[]) => log.flatMap((event) => (event.kind === "prompt.delivering" ? [event.prompt_id] : []))

function expectOneRunAtATime(log: readonly SessionEvent[]): void {
  let open: string | null = null
  for (const event of log) {
    if (event.kind === "run.started") {
      expect(open).toBeNull()
      open = event.run_id
    } else if (isTerminalKind(event.kind)) {
      expect((event as { run_id: string }).run_id).toBe(open)
      open = null
    }
  }
}

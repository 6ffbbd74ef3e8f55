import { describe, expect, test } from "vitest"
import type { EventOf, SessionEvent } from "../../lib/contracts/events"
import { isTerminalKind } from "../../lib/contracts/events"
import type { SessionStatusReport } from "../../lib/contracts/status"
import type { Outcome, Wait } from "../../lib/contracts/waits"
import { agentText, DATABASES, type Rewake } from "../support/server"
import { useServer } from "../support/use-server"
import { waitUntil } from "../support/wait-until"

const selected = (option_id: string | undefined): Outcome => ({ kind: "selected", option_id: option_id ?? "" })
const cancelled: Outcome = { kind: "cancelled" }
const optionOf = (wait: Wait, kind: string) => wait.options.find((option) => option.kind.startsWith(kind))?.id
const kinds = (log: readonly SessionEvent[]) => log.map((event) => event.kind)

async function waitingSession(rewake: Rewake, message: string) {
  const { task, session } = await rewake.createTask(message)
  await rewake.waitForEvent(session.id, (event) => event.kind === "run.waiting", "the question")
  const view = await rewake.session(session.id)
  expect(view.waits).toHaveLength(1)
  return { task, session: view, wait: view.waits[0] as Wait }
}

describe.each(DATABASES)("a run that waits for a person, on %s", (database) => {
  const rewake = useServer({ database })

  const answer = (sessionId: string, wait: Pick<Wait, "token_id" | "secret">, outcome: Outcome, secret = wait.secret) =>
    rewake.api("POST", `/api/v1/sessions/${sessionId}/waits/${wait.token_id}`, { secret, outcome })

  test("a permission shows what is asked and by when, and allowing it lets the agent go on", async () => {
    const { session, wait } = await waitingSession(rewake, "run echo allowed-$((40+2))")
    expect(session.status).toBe("waiting")
    expect(wait).toMatchObject({ wait_kind: "permission" })
    expect(JSON.stringify([wait.title, wait.detail])).toContain("echo allowed")
    expect(Date.parse(wait.deadline_at) - Date.now()).toBeGreaterThan(71 * 3_600_000)
    expect((await answer(session.id, wait, selected(optionOf(wait, "allow")))).status).toBe(202)
    const log = await rewake.waitForRuns(session.id, 1)
    expect(JSON.stringify(log.filter((event) => event.kind === "tool.update"))).toContain("allowed-42")
    expect(kinds(log).filter((kind) => /^(token|run)\./.test(kind))).toEqual([
      "run.started",
      "token.minted",
      "run.waiting",
      "token.consumed",
      "run.resumed",
      "run.completed",
    ])
    expect((await rewake.session(session.id)).waits).toEqual([])
  })

  test("refusing a permission ends the turn without the command being run", async () => {
    const { session, wait } = await waitingSession(rewake, "run echo never-$((40+2)) > proof.txt")
    expect((await answer(session.id, wait, selected(optionOf(wait, "reject")))).status).toBe(202)
    const log = await rewake.waitForRuns(session.id, 1)
    expect(JSON.stringify(log)).not.toContain("never-42")
    expect(log.some((event) => event.kind === "run.completed" || event.kind === "run.cancelled")).toBe(true)
    await rewake.append(session.task_id, "read proof.txt")
    expect(agentText(await rewake.waitForRuns(session.id, 2))).toContain("could not read")
  })

  test("a question is told from a permission, and the chosen answer reaches the agent", async () => {
    const { session, wait } = await waitingSession(rewake, "ask Which way?")
    expect(wait).toMatchObject({ wait_kind: "question", title: "Which way?" })
    expect((await answer(session.id, wait, selected(wait.options[1]?.id))).status).toBe(202)
    expect(agentText(await rewake.waitForRuns(session.id, 1))).toContain(`You chose: ${wait.options[1]?.label}`)
  })

  test("a question answered with cancelled ends the turn", async () => {
    const { session, wait } = await waitingSession(rewake, "ask Which way?")
    expect((await answer(session.id, wait, cancelled)).status).toBe(202)
    const log = await rewake.waitForRuns(session.id, 1)
    expect(agentText(log)).not.toContain("You chose")
    expect(kinds(log)).toContain("run.cancelled")
  })

  test("[4] a wrong secret, another session's question and an unknown option are refused, and the question stays open", async () => {
    const { session, wait } = await waitingSession(rewake, "ask Which way?")
    const { session: other, wait: otherWait } = await waitingSession(rewake, "ask Another?")
    const unknown = { status: 409, body: { code: "RESUME_TOKEN_REJECTED", reason: "unknown" } }
    const before = (await rewake.session(session.id)).last_seq
    for (const secret of ["", "wrong", otherWait.secret, `${wait.secret}x`]) {
      expect(await answer(session.id, wait, selected(wait.options[0]?.id), secret)).toMatchObject(unknown)
    }
    expect(await answer(session.id, otherWait, selected("choice_1"))).toMatchObject(unknown)
    expect(await answer(session.id, { token_id: "rt_unknown", secret: wait.secret }, cancelled)).toMatchObject(unknown)
    expect(await answer(session.id, wait, selected("choice_99"))).toMatchObject({ status: 400, body: { code: "INVALID_INPUT" } })
    const after = await rewake.session(session.id)
    expect(after).toMatchObject({ last_seq: before, status: "waiting" })
    expect(after.waits).toHaveLength(1)
    for (const id of [session.id, other.id]) await rewake.api("POST", `/api/v1/sessions/${id}/cancel`, {})
    for (const id of [session.id, other.id]) await rewake.waitForRuns(id, 1)
  })

  test("[4] the same answer again gets the same 202, a different one 409 consumed, also after the run has ended", async () => {
    const { session, wait } = await waitingSession(rewake, "ask Which way?")
    const [first, second] = wait.options
    for (const _ of [1, 2, 3]) expect((await answer(session.id, wait, selected(first?.id))).status).toBe(202)
    const consumed = { status: 409, body: { code: "RESUME_TOKEN_REJECTED", reason: "consumed" } }
    expect(await answer(session.id, wait, selected(second?.id))).toMatchObject(consumed)
    const log = await rewake.waitForRuns(session.id, 1)
    expect((await answer(session.id, wait, selected(first?.id))).status).toBe(202)
    expect(await answer(session.id, wait, selected(second?.id))).toMatchObject(consumed)
    expect(await answer(session.id, wait, cancelled)).toMatchObject(consumed)
    expect(kinds(log).filter((kind) => kind === "token.consumed")).toHaveLength(1)
    expect(agentText(log)).toContain(`You chose: ${first?.label}`)
  })

  test("[4] of answers that race, one wins, all alike get 202, and the agent hears the winner", async () => {
    const { session, wait } = await waitingSession(rewake, "ask Which way?")
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, i) => {
        const option = wait.options[i % 3]
        return answer(session.id, wait, selected(option?.id)).then((result) => ({ option, status: result.status }))
      }),
    )
    const winners = new Set(answers.filter(({ status }) => status === 202).map(({ option }) => option?.label))
    expect(winners.size).toBe(1)
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(4)
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(8)
    const log = await rewake.waitForRuns(session.id, 1)
    expect(kinds(log).filter((kind) => kind === "token.consumed")).toHaveLength(1)
    expect(agentText(log)).toContain(`You chose: ${[...winners][0]}`)
  })

  test("cancelling the run revokes its question", async () => {
    const { session, wait } = await waitingSession(rewake, "run echo cancelled-$((40+2))")
    expect((await rewake.api("POST", `/api/v1/sessions/${session.id}/cancel`, {})).status).toBe(202)
    const log = await rewake.waitForRuns(session.id, 1)
    expect(kinds(log)).toContain("run.cancelled")
    expect(kinds(log).filter((kind) => kind.startsWith("token."))).toEqual(["token.minted", "token.revoked"])
    expect(JSON.stringify(log)).not.toContain("cancelled-42")
    expect(await answer(session.id, wait, selected(optionOf(wait, "allow")))).toMatchObject({
      status: 409,
      body: { code: "RESUME_TOKEN_REJECTED", reason: "revoked" },
    })
    expect(await rewake.session(session.id)).toMatchObject({ status: "idle", waits: [] })
  })

  test("answer and cancel race: the run ends once, and the token goes one way only", async () => {
    for (const _ of [1, 2, 3, 4]) {
      const { session, wait } = await waitingSession(rewake, "ask Which way?")
      const [answered] = await Promise.all([
        answer(session.id, wait, selected(wait.options[0]?.id)),
        rewake.api("POST", `/api/v1/sessions/${session.id}/cancel`, {}),
      ])
      const log = await rewake.waitForRuns(session.id, 1)
      const fate = kinds(log).filter((kind) => kind === "token.consumed" || kind === "token.revoked")
      expect(fate).toEqual([answered.status === 202 ? "token.consumed" : "token.revoked"])
      expect(log.filter((event) => isTerminalKind(event.kind))).toHaveLength(1)
    }
  })

  test("no secret is kept: neither in the log nor in the database's view of it", async () => {
    const { session, wait } = await waitingSession(rewake, "ask Which way?")
    expect(JSON.stringify(await rewake.events(session.id))).not.toContain(wait.secret)
    await answer(session.id, wait, cancelled)
    expect(JSON.stringify(await rewake.waitForRuns(session.id, 1))).not.toContain(wait.secret)
  })
})

describe.each(DATABASES)("a question nobody answers in time, on %s", (database) => {
  const rewake = useServer({ database, env: { WAIT_DEADLINE_HOURS: "0.0005" }, durations: { sweepMs: 300 } })

  test("[3] ends its run once as wait_timeout, refuses late answers as expired, and the session takes the next message", async () => {
    const { task, session, wait } = await waitingSession(rewake, "ask Which way?")
    const log = await rewake.waitForEvent(session.id, (event) => event.kind === "run.interrupted", "the time-out")
    const end = log.find((event): event is EventOf<"run.interrupted"> => event.kind === "run.interrupted")
    expect(end?.reason).toBe("wait_timeout")
    expect(Date.parse(end?.ts ?? "")).toBeGreaterThanOrEqual(Date.parse(wait.deadline_at))
    expect(kinds(log).filter((kind) => kind.startsWith("token."))).toEqual(["token.minted", "token.expired"])

    const view = await rewake.session(session.id)
    expect(view).toMatchObject({ status: "interrupted_waiting", state: "WAITING_FOR_INPUT", waits: [] })
    const report = (await rewake.api<SessionStatusReport>("GET", `/api/v1/sessions/${session.id}/status`)).body
    expect(report.interruption).toMatchObject({ run_id: end?.run_id, reason: "wait_timeout" })
    const late = await rewake.api("POST", `/api/v1/sessions/${session.id}/waits/${wait.token_id}`, {
      secret: wait.secret,
      outcome: selected(wait.options[0]?.id),
    })
    expect(late).toMatchObject({ status: 409, body: { code: "RESUME_TOKEN_REJECTED", reason: "expired" } })

    await rewake.append(task.id, "remember afterwards")
    const later = await rewake.waitForRuns(session.id, 2)
    expect(kinds(later).filter((kind) => kind === "run.interrupted")).toHaveLength(1)
    expect(kinds(later)).toContain("run.completed")
    await waitUntil(async () => (await rewake.session(session.id)).status === "idle", "the interruption to be over")
  })

  test("leaves nothing of its run behind: what was open is closed once, and what the agent says of it afterwards is not shown", async () => {
    const { task, session } = await waitingSession(rewake, "run echo never")
    await rewake.waitForRuns(session.id, 1)
    // The agent calls its tool failed when it is told that nobody answered.
    await rewake.waitForEvent(session.id, (event) => event.kind === "run.late_outcome", "the agent's own end")
    await rewake.append(task.id, "remember afterwards")
    const log = await rewake.waitForRuns(session.id, 2)
    const told = log.flatMap((event) => (event.kind === "tool.update" ? [event.status] : []))
    expect(told).toEqual(["interrupted"])
  })

  test("is refused from its deadline on, even before anybody has swept it", async () => {
    const { session, wait } = await waitingSession(rewake, "ask Which way?")
    await waitUntil(() => new Date().toISOString() >= wait.deadline_at, "the deadline")
    const late = await rewake.api("POST", `/api/v1/sessions/${session.id}/waits/${wait.token_id}`, {
      secret: wait.secret,
      outcome: selected(wait.options[0]?.id),
    })
    expect(late).toMatchObject({ status: 409, body: { code: "RESUME_TOKEN_REJECTED", reason: "expired" } })
    expect((await rewake.session(session.id)).status).toBe("interrupted_waiting")
    await rewake.waitForEvent(session.id, (event) => event.kind === "run.interrupted", "the time-out")
  })
})

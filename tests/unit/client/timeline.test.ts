import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { ticksBetween } from "@/lib/client/time-axis"
import { buildTimeline, type LaneName } from "@/lib/client/timeline"
import type { NewEvent, SessionEvent } from "@/lib/contracts/events"

const START = Date.UTC(2026, 0, 1)
const at = (seq: number, second: number, event: NewEvent): SessionEvent =>
  ({ session_id: "sess_1", seq, ts: new Date(START + second * 1000).toISOString(), v: 1, ...event }) as SessionEvent
/** One event each second, or at the second given before it. */
const log = (...events: (NewEvent | number)[]): SessionEvent[] => {
  let second = -1
  const placed: SessionEvent[] = []
  for (const event of events) {
    if (typeof event === "number") second = event - 1
    else placed.push(at(placed.length + 1, ++second, event))
  }
  return placed
}
const lane = (events: readonly SessionEvent[], name: LaneName) =>
  (buildTimeline(events).lanes.find((found) => found.name === name)?.spans ?? []).map((span) => ({
    from: (span.from - START) / 1000,
    to: span.to === null ? null : (span.to - START) / 1000,
    tone: span.tone,
    label: span.label,
  }))
const happenings = (events: readonly SessionEvent[]) => buildTimeline(events).happenings.map(({ what, detail }) => `${what}: ${detail}`)

const started = (run_id: string, boot_id = "boot_1"): NewEvent => ({ kind: "run.started", run_id, boot_id, prompt_id: "p" })
const completed = (run_id: string): NewEvent => ({ kind: "run.completed", run_id, stop_reason: "end_turn" })
const interrupted = (run_id: string, reason: "process_restart" | "executor_lost" = "process_restart"): NewEvent => ({
  kind: "run.interrupted",
  run_id,
  reason,
})
const adopted = (run_id: string, boot_id: string): NewEvent => ({ kind: "run.adopted", run_id, boot_id })
const ready = (agentctl_instance_id: string): NewEvent => ({
  kind: "executor.ready",
  executor_id: "e",
  agentctl_instance_id,
  worktree_path: "/w",
  worktree_branch: null,
})
const starting: NewEvent = { kind: "executor.starting", executor_id: "e", runtime: "standalone" }
const receipt = (receipt_kind: "recover" | "resume", agent_memory: "kept" | "native" | "none", took_ms = 500): NewEvent => ({
  kind: "recovery.receipt",
  receipt_kind,
  level: "L3",
  agent_memory,
  messages: 2,
  files: "kept",
  processes: [{ what: "agent", outcome: agent_memory === "kept" ? "kept" : "ended" }],
  queue: 0,
  took_ms,
  attempts: [],
})
const waiting = (resume_token_id: string, run_id = "r1"): NewEvent => ({
  kind: "run.waiting",
  run_id,
  resume_token_id,
  wait_kind: "permission",
  deadline_at: "2026-01-02T00:00:00.000Z",
  title: "git push",
  detail: null,
  options: [{ id: "once", label: "Allow once", kind: "allow_once" }],
  tool_call_id: null,
})

describe("runs", () => {
  test("are coloured by how they ended, and stay open while they last", () => {
    const events = log(
      started("r1"),
      completed("r1"),
      started("r2"),
      { kind: "run.failed", run_id: "r2", reason: "agent_exited", message: "The agent ended." },
      started("r3"),
      { kind: "run.cancelled", run_id: "r3", stop_reason: "cancelled" },
      started("r4"),
      interrupted("r4", "executor_lost"),
      started("r5"),
    )
    expect(lane(events, "runs").map(({ tone, to }) => [tone, to])).toEqual([
      ["work", 1],
      ["bad", 3],
      ["quiet", 5],
      ["warn", 7],
      ["work", null],
    ])
  })

  test("that completed are not news; the others are", () => {
    expect(happenings(log(started("r1"), completed("r1")))).toEqual([])
    expect(happenings(log(started("r1"), interrupted("r1", "executor_lost")))).toEqual(["interrupted: its executor went away · r1"])
  })
})

describe("servers", () => {
  test("one that never changed is one span, still open", () => {
    expect(lane(log(started("r1"), completed("r1"), started("r2")), "servers")).toEqual([
      { from: 0, to: null, tone: "server", label: "boot_1" },
    ])
  })

  test("an adopted run crosses to the next, which began when its recovery did", () => {
    const events = log(started("r1"), 10, adopted("r1", "boot_2"), receipt("recover", "kept", 3000), completed("r1"))
    expect(lane(events, "servers")).toEqual([
      { from: 0, to: 0, tone: "server", label: "boot_1" },
      { from: 0, to: 8, tone: "unsure", label: expect.stringContaining("nothing was recorded") },
      { from: 8, to: null, tone: "server", label: "boot_2" },
    ])
    expect(lane(events, "runs")).toMatchObject([{ from: 0, to: 12, tone: "work" }])
  })

  test("a receipt alone tells of a restart, and the next run names its boot", () => {
    const events = log(started("r1"), completed("r1"), 10, receipt("recover", "kept", 0), 20, started("r2", "boot_2"), completed("r2"))
    expect(lane(events, "servers").filter(({ tone }) => tone === "server")).toEqual([
      { from: 0, to: 1, tone: "server", label: "boot_1" },
      { from: 10, to: null, tone: "server", label: "boot_2" },
    ])
  })

  test("an interruption by a restart and its receipt are one restart", () => {
    const events = log(started("r1"), 10, interrupted("r1"), receipt("recover", "none", 500), receipt("resume", "native"))
    expect(buildTimeline(events).cuts).toHaveLength(1)
    expect(happenings(events)).toEqual([
      "resumed: memory: native · 0.5 s · files kept · agent ended",
      "recovered: memory: none · 0.5 s · files kept · agent ended",
      "interrupted: the server restarted · r1",
      "server: started again and took this session over",
    ])
  })
})

describe("the executor", () => {
  test("starts, is ready, fails", () => {
    const events = log(starting, ready("i1"), { kind: "executor.error", executor_id: "e", reason: "unreachable", message: "No answer." })
    expect(lane(events, "executor").map(({ tone, from, to }) => [tone, from, to])).toEqual([
      ["starting", 0, 1],
      ["alive", 1, 2],
      ["bad", 2, null],
    ])
    expect(happenings(events)).toEqual(["executor error: No answer."])
  })

  test("the same one found again goes on; another in its place is said", () => {
    const events = log(ready("i1"), ready("i1"), started("r1"), 10, ready("i2"))
    expect(lane(events, "executor").map(({ from, to }) => [from, to])).toEqual([
      [0, 2],
      [10, null],
    ])
    expect(happenings(events)).toHaveLength(1)
  })
})

describe("waits", () => {
  test("last until they are answered, in the words of the answer", () => {
    const events = log(started("r1"), waiting("t1"), 9, {
      kind: "token.consumed",
      resume_token_id: "t1",
      outcome: { kind: "selected", option_id: "once" },
      by: "u",
    })
    expect(lane(events, "waits")).toEqual([{ from: 1, to: 9, tone: "need", label: "git push" }])
    expect(happenings(events)).toEqual(["wait over: answered: Allow once, after 8 s · git push", "waiting: permission: git push"])
  })

  test("end with their run", () => {
    expect(lane(log(started("r1"), waiting("t1"), interrupted("r1", "executor_lost")), "waits")).toMatchObject([{ from: 1, to: 2 }])
  })
})

test("an empty log, and one that begins in the middle, are no trouble", () => {
  expect(buildTimeline([]).happenings).toEqual([])
  expect(lane(log(completed("r0"), receipt("recover", "kept")), "runs")).toEqual([])
})

test("no span ends before it begins, whatever the log says", () => {
  const kinds: NewEvent[] = [
    started("r1"),
    started("r2", "boot_2"),
    completed("r1"),
    interrupted("r2"),
    adopted("r1", "boot_3"),
    receipt("recover", "none", 90_000),
    receipt("resume", "native"),
    starting,
    ready("i1"),
    ready("i2"),
    waiting("t1"),
  ]
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...kinds), { maxLength: 40 }), (events) => {
      const spans = buildTimeline(log(...events)).lanes.flatMap((found) => found.spans)
      return spans.every((span) => span.to === null || span.to >= span.from)
    }),
  )
})

test("ticks are round, inside, and never too many", () => {
  const hour = 3_600_000
  expect(ticksBetween(START, START + 16 * hour, 8, 0)).toEqual({
    step: 2 * hour,
    ticks: Array.from({ length: 9 }, (_, n) => START + n * 2 * hour),
  })
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 4e12 }), fc.integer({ min: 1000, max: 1e11 }), (from, length) => {
      const { ticks, step } = ticksBetween(from, from + length, 8, 0)
      return ticks.length <= 9 && ticks.every((tick) => tick >= from && tick <= from + length && tick % step === 0)
    }),
  )
})

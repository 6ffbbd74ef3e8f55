import { expect, test } from "vitest"
import { groupTasks, phaseOf, taskSubline } from "@/lib/client/session-phase"
import type { SessionView, TaskView } from "@/lib/contracts/task"

const session = (over: Partial<SessionView> = {}): SessionView => ({
  id: "sess_1",
  task_id: 1,
  agent: "demo",
  runtime: "standalone",
  state: "WAITING_FOR_INPUT",
  status: "idle",
  executor_status: "ready",
  on_other_server: false,
  start_place: null,
  survival_level: "L4",
  worktree_branch: null,
  last_seq: 1,
  waits: [],
  created_at: "2026-01-01T00:00:00Z",
  updated_at: "2026-01-01T00:00:00Z",
  ...over,
})
const task = (id: number, ...sessions: SessionView[]): TaskView => ({
  id,
  type: "chat",
  title: `task ${id}`,
  state: "IN_PROGRESS",
  agent: "demo",
  repository: null,
  created_at: "2026-01-01T00:00:00Z",
  updated_at: "2026-01-01T00:00:00Z",
  last_activity_at: `2026-01-0${id}T00:00:00Z`,
  expires_at: null,
  hidden_at: null,
  sessions,
})

test.each([
  ["needs_you", { status: "waiting", state: "RUNNING" }],
  ["working", { status: "running", state: "RUNNING" }],
  ["working", { state: "STARTING", executor_status: "starting" }],
  ["idle", {}],
  ["idle", { executor_status: "unknown" }],
  ["asleep", { executor_status: "stopped" }],
  ["interrupted", { status: "interrupted_startup", executor_status: "stopped" }],
  ["error", { state: "ERROR", executor_status: "error" }],
] as const)("a session is %s", (phase, over) => {
  expect(phaseOf(session(over))).toBe(phase)
})

test("the list puts what needs a person first, then what works, then the newest", () => {
  const groups = groupTasks([
    task(1, session()),
    task(2, session({ status: "running" })),
    task(3, session(), session({ status: "waiting" })),
    task(4, session()),
  ])
  expect([groups.needsYou, groups.working, groups.recent].map((group) => group.map((t) => t.id))).toEqual([[3], [2], [4, 1]])
})

test("the second line names the state in words", () => {
  expect(taskSubline(task(1, session({ executor_status: "stopped" })), "Demo")).toBe("asleep · wakes on a message")
  expect(taskSubline(task(1, session(), session()), "Demo")).toBe("idle · 2 sessions")
})

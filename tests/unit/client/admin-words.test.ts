import { expect, test } from "vitest"
import { comesBackBy, inOldOrder, rowAction, runningBoots } from "@/lib/client/admin-words"
import type { AdminSession, Recovery } from "@/lib/contracts/admin"

const session = (over: Partial<AdminSession> = {}): AdminSession => ({
  session_id: "sess_1",
  task_id: 1,
  state: "WAITING_FOR_INPUT",
  status: "idle",
  agent_profile_id: "demo",
  executor_status: "ready",
  on_other_server: false,
  agent_execution_id: null,
  runtime: "standalone",
  is_agent_running: false,
  is_resumable: true,
  needs_resume: true,
  resume_reason: "agent_not_running",
  resume_strategy: "native",
  survival_level: "L3",
  worktree_path: null,
  worktree_branch: null,
  last_seq: 1,
  interruption: null,
  title: "t",
  owner: "a@b.co",
  last_seen_at: null,
  updated_at: "2026-01-01T00:00:00Z",
  error_message: null,
  ...over,
})

test.each([
  ["Resume", {}],
  ["Stop", { is_agent_running: true }],
  ["Retry", { state: "ERROR", is_resumable: false }],
  [undefined, { is_resumable: false, resume_reason: "not_resumable", resume_strategy: null }],
  // A silent executor may still be working: nothing is started in its place.
  [undefined, { executor_status: "unknown", resume_reason: "stale_execution" }],
] as const)("the row offers %s", (word, over) => {
  expect(rowAction(session(over))?.word).toBe(word)
})

test("how a session comes back, with its reason unless the agent runs", () => {
  expect(comesBackBy(session())).toEqual({ way: "native", reason: "agent_not_running" })
  expect(comesBackBy(session({ resume_strategy: "adopt", resume_reason: "already_running" }))).toEqual({ way: "adopt", reason: null })
  expect(comesBackBy(session({ is_resumable: false, resume_reason: "workspace_missing" }))).toEqual({
    way: "—",
    reason: "workspace_missing",
  })
  expect(comesBackBy(session({ resume_strategy: null, resume_reason: "not_resumable" }))).toEqual({ way: "—", reason: "not_resumable" })
})

test("rows that are pointed at stay where they are; new ones come behind, gone ones leave", () => {
  expect(inOldOrder(["c", "d", "a"], (id) => id, ["a", "b", "c"])).toEqual(["a", "c", "d"])
})

test("every server without an end is running, also two on one host", () => {
  const boot = (boot_id: string, hostname: string, started_at: string, ended_at: string | null = null) =>
    ({ boot_id, hostname, started_at, ended_at }) as Recovery
  expect([...runningBoots([boot("b3", "x", "3"), boot("b2", "x", "2"), boot("b1", "y", "1", "1.5")])]).toEqual(["b3", "b2"])
})

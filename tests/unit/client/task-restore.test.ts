import { describe, expect, test } from "vitest"
import { archiveErrorSentence, dueWords } from "@/lib/client/archive-words"
import { taskExpired } from "@/lib/client/error-parser"
import { filesWords } from "@/lib/client/event-words"
import { taskSubline } from "@/lib/client/session-phase"
import { asleepWords, comesBack, expiryWords, progressWords, restoreStage } from "@/lib/client/task-restore"
import { applyEvents, emptyTranscript } from "@/lib/client/transcript"
import type { Comeback } from "@/lib/client/transcript-items"
import { NetworkError } from "@/lib/client/transport"
import { AppError, fromErrorBody } from "@/lib/contracts/errors"
import type { NewEvent, SessionEvent } from "@/lib/contracts/events"
import type { LeftOut } from "@/lib/contracts/left-out"
import type { RestorePreview } from "@/lib/contracts/restore"
import type { SessionView, TaskView } from "@/lib/contracts/task"

const now = Date.parse("2026-01-02T12:00:00Z")
const preview: RestorePreview = {
  task_id: 1,
  task_type: "code",
  session_id: "sess_1",
  reason: "executor_deleted",
  expire_hours: 24,
  last_updated_at: "2026-01-02T09:00:00Z",
  files: { kind: "archive", created_at: "2026-01-02T09:30:00Z", bytes: 3.1 * 1024 * 1024, files: 214, left_out: [] },
  memory: "native",
  progress: null,
}

const fold = (...events: NewEvent[]) =>
  applyEvents(
    emptyTranscript(),
    events.map((event, at) => ({ session_id: "s", seq: at + 1, ts: "2026-01-02T10:00:00Z", v: 1, ...event }) as SessionEvent),
  )
const executor_id = "exec_1"
const created: NewEvent = { kind: "archive.created", archive_id: "a", sha256: "x", bytes: 2048, files: 3 }
const deleted: NewEvent = { kind: "executor.deleted", executor_id, archive_id: "a" }
const requested: NewEvent = { kind: "restore.requested", executor_id, archive_id: "a" }
const starting: NewEvent = { kind: "executor.starting", executor_id, runtime: "standalone" }
const failed: NewEvent = { kind: "executor.error", executor_id, reason: "archive_missing", message: "gone" }
const started: NewEvent = {
  kind: "agent.started",
  agent_execution_id: "x",
  strategy: "loaded",
  pid: 1,
  capabilities: { load: true, resume: false },
}

test("an expired task is recognised by its code, with what the dialog needs; a lost connection is not one", () => {
  const body = { code: "TASK_EXPIRED_RESTORABLE", message: "expired", task_id: 7, task_type: "chat", expire_hours: 2 }
  expect(taskExpired(fromErrorBody(body))).toMatchObject({ task_id: 7, expire_hours: 2 })
  expect(taskExpired(new AppError("CONFLICT", "", {}))).toBeNull()
  expect(taskExpired(new NetworkError("gone"))).toBeNull()
})

describe("the log tells how a task comes back", () => {
  test("asked for, on its way, there; the next archive begins anew", () => {
    expect(fold(created, deleted).comeback).toBeNull()
    const waking = fold(created, deleted, requested, starting)
    expect(waking.comeback).toMatchObject({ state: "under_way", archived: true })
    expect(waking.waking).toMatchObject({ restores: true, steps: [{ name: "files", doneAt: null }] })
    expect(fold(created, deleted, requested, starting, started).comeback).toMatchObject({ state: "done" })
    expect(fold(created, deleted, requested, starting, started, created, deleted).comeback).toBeNull()
  })

  test("a failure is one until it is tried again", () => {
    const once = fold(created, deleted, requested, starting, failed)
    expect(once.comeback).toMatchObject({ state: "failed", trouble: { reason: "archive_missing" } })
    expect(fold(created, deleted, requested, starting, failed, starting).comeback).toMatchObject({ state: "under_way", archived: true })
  })

  test("reopening an ended session is not yet its return", () => {
    const reopened: NewEvent = { kind: "session.state_changed", from: "COMPLETED", to: "WAITING_FOR_INPUT", cause: "restored" }
    expect(fold(deleted, requested, reopened).comeback).toMatchObject({ state: "under_way" })
  })

  test("being put away is one divider, with the agent's end inside it", () => {
    const exited: NewEvent = { kind: "agent.exited", agent_execution_id: "x", code: null, signal: "SIGTERM", stderr_tail: "" }
    expect(fold(exited, created, deleted).items).toMatchObject([{ type: "note", note: { about: "put_away", files: 3, bytes: 2048 } }])
    expect(fold({ ...deleted, archive_id: null } as NewEvent).items).toMatchObject([{ note: { about: "put_away_lost" } }])
  })
})

describe("what the dialog shows", () => {
  const under: Comeback = { state: "under_way", seq: 5, archived: true }
  const broken: Comeback = { state: "failed", seq: 5, archived: true, trouble: { of: "executor", reason: "archive_missing", message: "" } }
  const accepted = (sinceSeq: number, rebuilt = true) => ({ state: "accepted", rebuilt, sinceSeq }) as const
  const refused = (error: Error) => restoreStage({ state: "refused", error }, null, false)

  test("asks; shows what another tab does; ends when the task is back", () => {
    expect(restoreStage({ state: "no" }, null, false)).toEqual({ kind: "asking" })
    expect(restoreStage({ state: "no" }, under, false)).toEqual({ kind: "restoring" })
    expect(restoreStage({ state: "no" }, { ...under, state: "done" }, false)).toEqual({ kind: "over" })
    expect(restoreStage({ state: "no" }, null, true)).toEqual({ kind: "over" })
  })

  test("an executor that was still there is back at once; a rebuilt one when the log says so", () => {
    expect(restoreStage(accepted(0, false), null, false)).toEqual({ kind: "over" })
    expect(restoreStage(accepted(9), null, false)).toEqual({ kind: "restoring" })
  })

  test("an old failure does not answer a new try", () => {
    expect(restoreStage(accepted(4), broken, false)).toMatchObject({ kind: "failed", message: "kept", retryable: true })
    expect(restoreStage(accepted(5), broken, false)).toEqual({ kind: "restoring" })
  })

  test("a refusal says where the message is; one that says the task is awake ends the matter", () => {
    expect(refused(new NetworkError("gone"))).toMatchObject({ kind: "failed", message: "unknown", retryable: true })
    expect(refused(new AppError("SESSION_NOT_RESUMABLE", "", {}))).toMatchObject({ message: "here", retryable: false })
    expect(refused(new AppError("TASK_NOT_RESTORABLE", "", { state: "REVIEW" }))).toEqual({ kind: "over" })
  })

  const archived = { kind: "archive", created_at: "2026-01-02T09:30:00Z", bytes: 1, files: 1, left_out: [] } as const
  const names = ["node_modules/", "evil\u202e.log", "b", "c"].map((path, at) => ({ path, files: at === 0 ? 812 : null }))
  const left_out: LeftOut = [
    { reason: "ignored", count: 5, bytes: 210 * 1024 * 1024, names },
    { reason: "outward_link", count: 1, bytes: null, names: [{ path: "up", files: null }] },
  ]

  test("what an archive left out is said where its files are counted", () => {
    const receipt = { archive: { sha256: "x", bytes: 1, files: 214, left_out } }
    expect(filesWords(receipt)).toBe("214 files verified, 6 not archived")
    expect(filesWords({ archive: { sha256: "x", bytes: 1, files: 1 } })).toBe("1 file verified")
    expect(fold({ ...created, left_out } as NewEvent).items).toMatchObject([{ note: { about: "put_away", leftOut: left_out } }])
  })

  test("names what comes back and what does not", () => {
    expect(comesBack(preview, "96 messages", now).map(({ what, how, comes }) => `${comes ? "✓" : "✗"} ${what}: ${how}`)).toEqual([
      expect.stringMatching(/^✓ Files from the archive of .*: 214 files · 3.1 MB$/),
      "✓ The agent's own memory: native",
      "✓ Conversation: 96 messages",
      "✗ Running programs: ended",
    ])
    expect(comesBack({ ...preview, files: { ...archived, left_out } }, null, now).slice(3)).toEqual([
      { what: "Ignored by git", names: "node_modules/ (812 files), evil�.log, b and 2 more", how: "not archived, 210 MB", comes: false },
      { what: "Links out of the workspace", names: "up", how: "not archived", comes: false },
    ])
    expect(comesBack({ ...preview, files: { ...archived, left_out: null } }, null, now).at(-1)).toMatchObject({
      how: "not recorded by an earlier version",
    })
    expect(comesBack({ ...preview, files: { kind: "kept" }, memory: "kept" }, null, now)).toHaveLength(2)
    expect(expiryWords(preview, now)).toMatch(/^This code task was last active .* Code tasks are kept ready for 24 hours, so its executor/)
    expect(asleepWords({ kind: "lost" }, now)).toContain("without an archive")
  })

  test("progress counts files and bytes, phase by phase", () => {
    const progress = { task_id: 1, session_id: "s", phase: "unpacking" as const, bytes: 24_700_000, total_bytes: 39_800_000, files: 132 }
    expect(progressWords({ ...progress, total_files: 214 })).toBe("Restoring files, 132 of 214 · 24 MB of 38 MB")
    expect(progressWords({ ...progress, phase: "downloading", total_files: 214 })).toBe("Fetching the archive · 24 MB of 38 MB")
  })
})

test("the list says when a task expires only when that is near, and that it can be continued afterwards", () => {
  const session = { state: "WAITING_FOR_INPUT", status: "idle", executor_status: "ready", waits: [], created_at: "" }
  const task = (expires_at: string) =>
    ({ state: "REVIEW", sessions: [session as unknown as SessionView], expires_at }) as unknown as TaskView
  expect(taskSubline(task("2026-01-02T12:40:00Z"), "Demo", now)).toBe("idle · expires in 40 min")
  expect(taskSubline(task("2026-01-03T12:00:00Z"), "Demo", now)).toBe("idle · Demo")
  expect(taskSubline(task("2026-01-02T11:00:00Z"), "Demo", now)).toBe("asleep · can be continued")
})

test("an admin reads what happens to each expired executor", () => {
  const due = {
    session_id: "s",
    task_id: 1,
    title: "",
    owner: "",
    expired_at: "",
    blocked: null,
    failures: 0,
    next_try_at: null,
    last_error: null,
  }
  expect(dueWords(due, now)).toEqual({ words: "goes in the next round", trouble: false })
  const later = { ...due, blocked: "archive_failed", failures: 2, next_try_at: "2026-01-02T12:04:00Z" }
  expect(dueWords(later, now)).toMatchObject({
    words: expect.stringMatching(/^failed 2 times, tried again .*; its executor is kept$/),
    trouble: true,
  })
  expect(archiveErrorSentence("disk_full: ENOSPC")).toContain("no room left")
  expect(archiveErrorSentence("internal: odd")).toBe("odd")
})

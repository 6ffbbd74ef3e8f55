import { execFileSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import type { AdminArchives } from "../../lib/contracts/admin"
import type { EventOf, SessionEvent } from "../../lib/contracts/events"
import type { RestorePreview, RestoreResult } from "../../lib/contracts/restore"
import type { SessionStatusReport } from "../../lib/contracts/status"
import type { SessionView } from "../../lib/contracts/task"
import { processStartTime } from "../../lib/host/process-identity"
import { archiveTask, reapUntil } from "../support/expiry"
import { agentText, DATABASES, type Rewake } from "../support/server"
import { useServers } from "../support/use-servers"
import { waitUntil } from "../support/wait-until"

const start = useServers()

const git = (cwd: string, ...args: string[]) =>
  execFileSync("git", ["-c", "user.name=T", "-c", "user.email=t@example.org", ...args], { cwd, encoding: "utf8" })

/** Every file outside .git, with its bytes and its executable bit. */
function tree(folder: string, under = ""): Record<string, string> {
  return Object.fromEntries(
    readdirSync(join(folder, under)).flatMap((name): [string, string][] => {
      const path = join(under, name)
      if (path === ".git") return []
      const stat = lstatSync(join(folder, path))
      if (stat.isDirectory()) return Object.entries(tree(folder, path))
      return [[path, `${stat.mode.toString(8)} ${readFileSync(join(folder, path)).toString("base64")}`]]
    }),
  )
}
const state = (folder: string) => ({
  files: tree(folder),
  status: git(folder, "status", "--porcelain=v2", "--branch", "--untracked-files=all").replace(/^# branch.ab.*\n/gm, ""),
  log: git(folder, "log", "--format=%H %s"),
})

let rewake: Rewake

const reapUntilEvent = (taskId: number, sessionId: string, kind: SessionEvent["kind"]) =>
  reapUntil(
    rewake,
    taskId,
    async () => {
      const log = await rewake.events(sessionId)
      return log.some((event) => event.kind === kind) ? log : null
    },
    kind,
  )

describe.each(DATABASES)("a task expires and its executor is archived, on %s", (database) => {
  const preview = async (taskId: number) => (await rewake.api<RestorePreview>("GET", `/api/v1/tasks/${taskId}/restore`)).body
  const restore = (taskId: number, body: object) => rewake.api<RestoreResult>("POST", `/api/v1/tasks/${taskId}/restore`, body)
  const statusOf = async (id: string) => (await rewake.api<SessionStatusReport>("GET", `/api/v1/sessions/${id}/status`)).body
  const gone = (path: string) => waitUntil(() => !existsSync(path), "the folder to be gone")

  test("agentctl killed while the files are unpacked: the restore is retried by itself, the message answered once", async () => {
    rewake = await start({ database })
    const { task, session } = await rewake.createTask("remember sallow")
    await rewake.waitForRuns(session.id, 1)
    const folder = (await statusOf(session.id)).worktree_path as string
    const large = randomBytes(40 * 1024 * 1024)
    writeFileSync(join(folder, "large.bin"), large)
    await archiveTask(rewake, task.id, session.id)
    await gone(folder)
    expect((await restore(task.id, { message: "recall" })).status).toBe(200)
    await waitUntil(() => existsSync(`${folder}.restoring`), "the files on their way")
    rewake.killDaemon()

    const log = await rewake.waitForRuns(session.id, 2)
    expect(readFileSync(join(folder, "large.bin")).equals(large)).toBe(true)
    expect(agentText(log)).toContain("sallow")
    expect(log.filter((event) => event.kind === "message.user" && event.content === "recall")).toHaveLength(1)
  })

  test("an older session comes back while a newer one of its task is at work, by name or without", async () => {
    rewake = await start({ database })
    const { task, session } = await rewake.createTask("remember medlar")
    await rewake.waitForRuns(session.id, 1)
    await archiveTask(rewake, task.id, session.id)
    const newer = (await rewake.api<SessionView>("POST", `/api/v1/tasks/${task.id}/sessions`, {})).body
    await rewake.append(task.id, "count 2000 20", { session_id: newer.id })

    const refused = await rewake.api("POST", `/api/v1/tasks/${task.id}/append`, { message: "recall", session_id: session.id })
    expect([refused.status, (refused.body as { code: string }).code]).toEqual([409, "TASK_EXPIRED_RESTORABLE"])
    expect((await rewake.api<RestorePreview>("GET", `/api/v1/tasks/${task.id}/restore`)).body).toMatchObject({ session_id: session.id })
    expect((await restore(task.id, { message: "recall", session_id: session.id })).status).toBe(200)
    expect(agentText(await rewake.waitForRuns(session.id, 2))).toContain("medlar")
    expect((await rewake.events(newer.id)).some((event) => event.kind === "message.user" && event.content === "recall")).toBe(false)
    const foreign = await rewake.createTask("hello")
    expect((await restore(task.id, { session_id: foreign.session.id })).status).toBe(404)
  })

  test("[L2, L3] files, index, history and memory come back byte for byte, and the waiting message is answered", async () => {
    rewake = await start({ database })
    const repository = join(rewake.dataDir, "repository")
    mkdirSync(repository)
    git(repository, "init", "-q", "-b", "main")
    writeFileSync(join(repository, "kept.txt"), "first\n")
    writeFileSync(join(repository, "gone.txt"), "to be removed\n")
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "Start")

    const { task, session } = await rewake.createTask("remember walnut", { type: "code", repository })
    const log = await rewake.waitForRuns(session.id, 1)
    const agent = log.find((event): event is EventOf<"agent.started"> => event.kind === "agent.started")
    const folder = (await statusOf(session.id)).worktree_path as string
    writeFileSync(join(folder, "committed.txt"), "by the agent\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "Only here")
    writeFileSync(join(folder, "kept.txt"), "changed, not staged\n")
    writeFileSync(join(folder, "staged.txt"), "staged\n")
    git(folder, "add", "staged.txt")
    writeFileSync(join(folder, "staged.txt"), "staged, then changed\n")
    rmSync(join(folder, "gone.txt"))
    mkdirSync(join(folder, "new folder"))
    writeFileSync(join(folder, "new folder", "untracked \u00fc.sh"), "#!/bin/sh\n", { mode: 0o755 })
    writeFileSync(join(folder, "bytes.bin"), Buffer.from([0, 255, 10, 13, 0]))
    mkdirSync(join(folder, "empty"))
    const before = state(folder)
    symlinkSync("/etc/hostname", join(folder, "outward"))
    const left_out = [{ reason: "outward_link", count: 1, bytes: null, names: [{ path: "outward", files: null }] }]

    const put = await archiveTask(rewake, task.id, session.id)
    await gone(folder)
    expect(processStartTime(agent?.pid ?? 0)).toBeNull()
    expect(put.find((event) => event.kind === "archive.created")).toMatchObject({ left_out })
    expect(await statusOf(session.id)).toMatchObject({
      executor_status: "deleted",
      is_agent_running: false,
      needs_resume: false,
      survival_level: "L3",
    })
    const kept = (await rewake.api<AdminArchives>("GET", "/api/v1/admin/archives")).body
    expect(kept.archives).toMatchObject([{ session_id: session.id, state: "ready", error: null }])
    expect(kept).toMatchObject({ due: [], store: { kind: "folder", count: 1 } })

    const refused = await rewake.api("POST", `/api/v1/tasks/${task.id}/append`, { message: "recall" })
    expect([refused.status, refused.body.code, refused.body.reason]).toEqual([409, "TASK_EXPIRED_RESTORABLE", "executor_deleted"])
    expect(await preview(task.id)).toMatchObject({ reason: "executor_deleted", files: { kind: "archive", left_out }, memory: "native" })

    const answer = await restore(task.id, { message: "recall" })
    expect(answer.body).toMatchObject({ success: true, task_id: task.id, task_type: "code", executor_rebuilt: true })
    const after = await rewake.waitForRuns(session.id, 2)
    expect(agentText(after.filter((event) => event.seq > (put.at(-1)?.seq ?? 0)))).toContain("walnut")
    expect(state(folder)).toEqual(before)
    expect(existsSync(join(folder, "empty"))).toBe(true)
    const receipt = after.findLast((event): event is EventOf<"recovery.receipt"> => event.kind === "recovery.receipt")
    expect(receipt).toMatchObject({
      receipt_kind: "restore",
      agent_memory: "native",
      level: "L3",
      files: { archive: { files: expect.any(Number), left_out } },
    })
    expect(after.filter((event) => event.kind === "message.user" && event.content === "recall")).toHaveLength(1)
    // Files first, agent next, message last.
    const order = ["archive.restored", "executor.ready", "agent.started", "prompt.delivering"]
    const places = order.map((kind) => after.findLast((event) => event.kind === kind)?.seq ?? 0)
    expect(places).toEqual([...places].sort((a, b) => a - b))
  })

  test("[7] an archive that cannot be written keeps the executor, says why, and is tried again", async () => {
    rewake = await start({ database, env: { ARCHIVE_URL: "" } })
    const { task, session } = await rewake.createTask("write a.txt hello")
    await rewake.waitForRuns(session.id, 1)
    const folder = (await statusOf(session.id)).worktree_path as string
    // A file where the store's folder should be.
    rmSync(join(rewake.dataDir, "archives"), { recursive: true, force: true })
    writeFileSync(join(rewake.dataDir, "archives"), "in the way")
    const log = await reapUntilEvent(task.id, session.id, "archive.failed")
    expect(log.some((event) => event.kind === "executor.deleted")).toBe(false)
    expect(existsSync(join(folder, "a.txt"))).toBe(true)
    const { due } = (await rewake.api<AdminArchives>("GET", "/api/v1/admin/archives")).body
    expect(due).toMatchObject([{ session_id: session.id, blocked: "archive_failed", failures: 1, last_error: expect.any(String) }])
    const answer = await restore(task.id, { message: "read a.txt" })
    expect(answer.body).toMatchObject({ executor_rebuilt: false })
    expect(agentText(await rewake.waitForRuns(session.id, 2))).toContain("hello")
  })
})

describe("nothing is lost while an executor is archived", () => {
  test("a chat's folder and injected memory come back as well", async () => {
    rewake = await start()
    const { task, session } = await rewake.createTask("remember sorrel", { agent: "demo-inject" })
    await rewake.waitForRuns(session.id, 1)
    await rewake.append(task.id, "write notes/a.txt some text")
    await rewake.waitForRuns(session.id, 2)
    await archiveTask(rewake, task.id, session.id)
    await rewake.api("POST", `/api/v1/tasks/${task.id}/restore`, { message: "recall" })
    const log = await rewake.waitForRuns(session.id, 3)
    expect(agentText(log).split("\n").at(-1)).toContain("sorrel")
    const receipt = log.findLast((event) => event.kind === "recovery.receipt")
    expect(receipt).toMatchObject({ receipt_kind: "restore", agent_memory: "injected" })
    await rewake.append(task.id, "read notes/a.txt")
    expect(agentText(await rewake.waitForRuns(session.id, 4))).toContain("some text")
  })

  test("the server is killed right after the deletion was journalled, again and again: the files are in the archive or in place", async () => {
    rewake = await start()
    const { task, session } = await rewake.createTask("write a.txt precious")
    await rewake.waitForRuns(session.id, 1)
    for (let round = 0; round < 3; round++) {
      await reapUntilEvent(task.id, session.id, "executor.reaping")
      await rewake.restart()
    }
    await archiveTask(rewake, task.id, session.id)
    await rewake.restart()
    const answer = await rewake.api<RestoreResult>("POST", `/api/v1/tasks/${task.id}/restore`, { message: "read a.txt" })
    expect(answer.status).toBe(200)
    const log = await rewake.waitForRuns(session.id, 2)
    expect(agentText(log)).toContain("precious")
  })

  const signal = (name: "SIGSTOP" | "SIGCONT") => process.kill(rewake.daemon().pid, name)
  const folderOf = async (id: string) =>
    (await rewake.api<SessionStatusReport>("GET", `/api/v1/sessions/${id}/status`)).body.worktree_path as string

  test("[7] a daemon that does not answer is unknown, not dead: nothing is archived until it answers", async () => {
    rewake = await start({ durations: { callMs: 1_000, probeMs: 1_000, lastRetryMs: 1_000 } })
    const { task, session } = await rewake.createTask("remember elder")
    await rewake.waitForRuns(session.id, 1)
    const folder = await folderOf(session.id)
    signal("SIGSTOP")
    try {
      // It is due, and the reaper has tried: its call to a stopped daemon runs into its time limit.
      await reapUntil(rewake, task.id, () => rewake.output.includes('"outcome":"unreachable"'), "a round of the reaper")
      const { due } = (await rewake.api<AdminArchives>("GET", "/api/v1/admin/archives")).body
      expect(due.map((item) => item.session_id)).toEqual([session.id])
      expect(existsSync(folder)).toBe(true)
      expect((await rewake.events(session.id)).some((event) => event.kind === "executor.reaping")).toBe(false)
    } finally {
      signal("SIGCONT")
    }
    await archiveTask(rewake, task.id, session.id)
  })

  test("[7] taken back while it is being archived: nothing is deleted, the message is answered in the same folder", async () => {
    rewake = await start()
    const { task, session } = await rewake.createTask("remember hazel")
    await rewake.waitForRuns(session.id, 1)
    const folder = await folderOf(session.id)
    writeFileSync(join(folder, "a.txt"), "in place")
    await reapUntilEvent(task.id, session.id, "executor.reaping")
    signal("SIGSTOP")
    const { ino } = lstatSync(folder, { throwIfNoEntry: false }) ?? { ino: 0 }
    const before = await rewake.events(session.id)
    const answer = await rewake.api<RestoreResult>("POST", `/api/v1/tasks/${task.id}/restore`, { message: "recall" })
    signal("SIGCONT")
    expect(answer.status).toBe(200)
    const log = await rewake.waitForRuns(session.id, 2)
    expect(agentText(log)).toContain("I remember: hazel")
    expect(readFileSync(join(folder, "a.txt"), "utf8")).toBe("in place")
    if (before.some((event) => event.kind === "executor.deleted")) return
    expect(answer.body.executor_rebuilt).toBe(false)
    expect(log.some((event) => event.kind === "executor.deleted")).toBe(false)
    expect(lstatSync(folder).ino).toBe(ino)
  })

  test("an admin's standing order lets go what cannot be archived, and a restore says that the files are lost", async () => {
    rewake = await start({ env: { ARCHIVE_MAX_BYTES: "1", ARCHIVE_FORCE_DELETE_DAYS: "0.000000000001" } })
    const { task, session } = await rewake.createTask("remember rowan", { agent: "demo-inject" })
    await rewake.waitForRuns(session.id, 1)
    const folder = await folderOf(session.id)
    writeFileSync(join(folder, "a.txt"), "too large for this store")
    const failed = await reapUntilEvent(task.id, session.id, "archive.failed")
    expect(failed.find((event) => event.kind === "archive.failed")).toMatchObject({ reason: "too_large" })
    const log = await archiveTask(rewake, task.id, session.id)
    expect(log.find((event) => event.kind === "executor.deleted")).toMatchObject({ archive_id: null })
    expect((await rewake.api<RestorePreview>("GET", `/api/v1/tasks/${task.id}/restore`)).body).toMatchObject({
      files: { kind: "lost" },
      memory: "injected",
    })
    await rewake.api("POST", `/api/v1/tasks/${task.id}/restore`, { message: "recall" })
    const after = await rewake.waitForRuns(session.id, 2)
    expect(agentText(after)).toContain("I remember: rowan")
    expect(after.findLast((event) => event.kind === "recovery.receipt")).toMatchObject({
      receipt_kind: "restore",
      files: { lost: { paths: [folder] } },
    })
  })
})

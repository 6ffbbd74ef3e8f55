import { execFileSync } from "node:child_process"
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, join, resolve } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { EventOf, SessionEvent } from "../../lib/contracts/events"
import type { SessionStatusReport } from "../../lib/contracts/status"
import type { QueuedPrompt, SessionView } from "../../lib/contracts/task"
import { processStartTime } from "../../lib/host/process-identity"
import { openDatabase } from "../../server/platform/database"
import { agentText, Rewake } from "../support/server"
import { waitUntil } from "../support/wait-until"

const starts = (log: readonly SessionEvent[]) => log.filter((event): event is EventOf<"agent.started"> => event.kind === "agent.started")
const git = (folder: string, ...args: string[]) =>
  execFileSync("git", ["-C", folder, "-c", "user.name=T", "-c", "user.email=t@example.org", ...args], { encoding: "utf8" }).trim()

describe("agents", () => {
  let rewake: Rewake
  /** In front of PATH: what lies here under a vendor's name is that vendor's agent. */
  let programs: string
  beforeAll(async () => {
    programs = mkdtempSync(join(tmpdir(), "rewake-agents-"))
    install("gemini", "exit 0")
    rewake = await Rewake.start({ database: "postgresql", env: { PATH: `${programs}${delimiter}${process.env.PATH}` } })
  })
  afterAll(async () => {
    await rewake?.stop()
    rmSync(programs, { recursive: true, force: true })
  })

  function install(name: string, script: string) {
    writeFileSync(join(programs, name), `#!/bin/sh\n${script}\n`)
    chmodSync(join(programs, name), 0o755)
  }
  const working = () => `exec "${process.execPath}" "${resolve("dist/programs/demo-agent.mjs")}" --variant demo`
  const odd = (mode: string) => `exec "${process.execPath}" "${resolve("tests/support/odd-agent.mjs")}" ${mode}`
  const report = async (id: string) => (await rewake.api<SessionStatusReport>("GET", `/api/v1/sessions/${id}/status`)).body
  const queueOf = async (id: string) => (await rewake.api<{ prompts: QueuedPrompt[] }>("GET", `/api/v1/sessions/${id}/queue`)).body.prompts
  const inState = (id: string, state: string) =>
    waitUntil(async () => (await rewake.session(id)).state === state, `session in ${state}`, 30_000)

  /** A session that was told a word and whose agent then crashed in the middle of a sentence. */
  async function crashed(agent: string) {
    const { task, session } = await rewake.createTask("remember pear", { agent })
    await rewake.waitForRuns(session.id, 1)
    await rewake.append(task.id, "crash")
    const log = await rewake.waitForRuns(session.id, 2)
    return { task, session, log }
  }

  test("an agent that crashes in mid-turn fails its run with the reason, and what it said is kept as cut off", async () => {
    const { session, log } = await crashed("demo")
    const end = log.find((event): event is EventOf<"run.failed"> => event.kind === "run.failed")
    expect(end?.message).toMatch(/\S/)
    expect(end?.reason).toMatch(/exit/)
    expect(log.some((event) => event.kind === "run.interrupted")).toBe(false)
    const cut = log.filter((event): event is EventOf<"message.agent"> => event.kind === "message.agent").at(-1)
    expect(cut).toMatchObject({ partial: true, content: "I am about to end in the middle of a sen" })
    const gone = (await rewake.waitForEvent(session.id, (event) => event.kind === "agent.exited", "the exit")).find(
      (event): event is EventOf<"agent.exited"> => event.kind === "agent.exited",
    )
    expect(gone).toMatchObject({ code: 1 })
    expect(gone?.stderr_tail).toContain("crashing as asked")
    expect((await rewake.session(session.id)).status).toBe("idle")
  })

  test("[L3] the next message brings a crashed agent back by its own memory, and the log says so", async () => {
    const { task, session } = await crashed("demo")
    await rewake.append(task.id, "recall")
    const log = await rewake.waitForRuns(session.id, 3)
    expect(agentText(log)).toContain("I remember: pear")
    expect(starts(log).map((event) => event.strategy)).toEqual(["new", expect.stringMatching(/^(loaded|resumed)$/)])
    expect(new Set(starts(log).map((event) => event.pid)).size).toBe(2)
    // What was loaded is history, not news: nothing is said twice.
    expect(log.filter((event) => event.kind === "message.agent" && event.content === "I will remember pear.")).toHaveLength(1)
    expect(log.filter((event) => event.kind === "message.user")).toHaveLength(3)
  })

  test("[L3] an agent without a memory of its own is told the history, and the log says so", async () => {
    const { task, session } = await crashed("demo-inject")
    await rewake.append(task.id, "recall")
    const log = await rewake.waitForRuns(session.id, 3)
    expect(agentText(log)).toContain("pear")
    expect(starts(log).map((event) => event.strategy)).toEqual(["new", "injected"])
    // The person's own words stay as they were written.
    expect(log.filter((event) => event.kind === "message.user").at(-1)).toMatchObject({ content: "recall" })
  })

  test("[9] an agent that cannot come back is not started again behind anybody's back", async () => {
    const { task, session } = await crashed("demo-forgetful")
    await waitUntil(async () => (await report(session.id)).resume_reason === "not_resumable", "the outlook", 15_000)
    expect(await report(session.id)).toMatchObject({ state: "WAITING_FOR_INPUT", is_resumable: false, needs_resume: false })
    const before = (await rewake.session(session.id)).last_seq
    const refused = { status: 409, body: { code: "SESSION_NOT_RESUMABLE", message: expect.stringContaining("Start a new session") } }
    expect(await rewake.api("POST", `/api/v1/tasks/${task.id}/append`, { message: "recall" })).toMatchObject(refused)
    expect(await rewake.api("POST", `/api/v1/sessions/${session.id}/resume`, {})).toMatchObject(refused)
    expect((await rewake.session(session.id)).last_seq).toBe(before)
    // Asked for in so many words, a fresh one starts, and is called fresh.
    expect(await rewake.api("POST", `/api/v1/sessions/${session.id}/resume`, { fresh: true })).toMatchObject({ status: 202 })
    await waitUntil(async () => (await report(session.id)).is_agent_running, "the fresh agent")
    await rewake.append(task.id, "recall")
    const log = await rewake.waitForRuns(session.id, 3)
    expect(agentText(log)).toContain("I remember nothing yet")
    expect(starts(log).at(-1)?.strategy).toBe("idle")
  })

  test.each([
    ["ends at once", "echo no licence found >&2; exit 4"],
    ["prints what is not the protocol and ends", "echo 'Welcome!'; echo '{not json'; exit 0"],
  ])("an agent that %s puts its session in ERROR with the reason, keeps the message, and works when it is mended", async (_, script) => {
    install("gemini", script)
    const { session } = await rewake.createTask("remember plum", { agent: "gemini" })
    await inState(session.id, "ERROR")
    const failures = (await rewake.events(session.id)).filter((event) => event.kind === "resume.failed" || event.kind === "executor.error")
    expect(failures.length).toBeGreaterThan(0)
    expect(JSON.stringify(failures)).toMatch(script.includes("licence") ? /no licence found|code 4/ : /\w{4}/)
    expect((await queueOf(session.id)).map((prompt) => prompt.message)).toEqual(["remember plum"])

    install("gemini", working())
    expect((await rewake.api("POST", `/api/v1/sessions/${session.id}/resume`, {})).status).toBe(202)
    const log = await rewake.waitForRuns(session.id, 1)
    expect(agentText(log)).toContain("I will remember plum.")
    expect(log.filter((event) => event.kind === "prompt.delivering")).toHaveLength(1)
    await inState(session.id, "WAITING_FOR_INPUT")
  })

  test("an agent that prints noise between its words still works", async () => {
    install("gemini", odd("garbage"))
    const { session } = await rewake.createTask("hello", { agent: "gemini" })
    const log = await rewake.waitForRuns(session.id, 1)
    expect(log.some((event) => event.kind === "run.completed")).toBe(true)
  })

  test("an agent whose command vanished leaves its session in ERROR with the reason, and its queue kept", async () => {
    install("gemini", working())
    const { task, session } = await rewake.createTask("remember fig", { agent: "gemini" })
    await rewake.waitForRuns(session.id, 1)
    await inState(session.id, "WAITING_FOR_INPUT")
    expect((await rewake.api("POST", `/api/v1/sessions/${session.id}/stop`, {})).status).toBe(202)
    await waitUntil(async () => !(await report(session.id)).is_agent_running, "the agent to end")
    rmSync(join(programs, "gemini"))
    await rewake.append(task.id, "recall")
    await inState(session.id, "ERROR")
    expect(JSON.stringify((await rewake.events(session.id)).slice(-4))).toContain("gemini")
    expect(await queueOf(session.id)).toHaveLength(1)
    install("gemini", working())
    await rewake.api("POST", `/api/v1/sessions/${session.id}/resume`, {})
    expect(agentText(await rewake.waitForRuns(session.id, 2))).toContain("I remember: fig")
  })

  test("a code task works in a worktree of its own on its own branch, and so does each further session", async () => {
    const repository = join(rewake.dataDir, "repository")
    mkdirSync(repository)
    git(repository, "init", "-q")
    writeFileSync(join(repository, "README.md"), "hello\n")
    git(repository, "add", ".")
    git(repository, "commit", "-q", "-m", "first")
    const { task, session } = await rewake.createTask("write note.txt from the agent", {
      type: "code",
      repository,
      title: "Fix the Flaky test!",
    })
    await rewake.waitForRuns(session.id, 1)
    const first = await report(session.id)
    expect(first.worktree_branch).toBe(`rewake/task-${task.id}-fix-the-flaky-test`)
    expect(existsSync(join(first.worktree_path ?? "", "note.txt"))).toBe(true)
    expect(existsSync(join(first.worktree_path ?? "", "README.md"))).toBe(true)
    expect(existsSync(join(repository, "note.txt"))).toBe(false)
    expect(git(repository, "status", "--porcelain")).toBe("")

    const second = (await rewake.api<SessionView>("POST", `/api/v1/tasks/${task.id}/sessions`, {})).body
    await rewake.append(task.id, "write other.txt from the second", { session_id: second.id })
    await rewake.waitForRuns(second.id, 1)
    const other = await report(second.id)
    expect(other.worktree_branch).toMatch(new RegExp(`^rewake/task-${task.id}-`))
    expect(other.worktree_branch).not.toBe(first.worktree_branch)
    expect(existsSync(join(other.worktree_path ?? "", "other.txt"))).toBe(true)
    expect(existsSync(join(first.worktree_path ?? "", "other.txt"))).toBe(false)
    const branches = git(repository, "branch", "--format=%(refname:short)").split("\n")
    expect(branches).toEqual(expect.arrayContaining([first.worktree_branch, other.worktree_branch]))
  })

  test("deleting a task ends its agent and removes its files and rows; other tasks stay", async () => {
    const kept = await rewake.createTask("remember keep")
    const { task, session } = await rewake.createTask("write note.txt hello")
    await rewake.append(task.id, "ask Which way?")
    const log = await rewake.waitForEvent(session.id, (event) => event.kind === "run.waiting", "the question")
    const pid = starts(log)[0]?.pid ?? 0
    const life = processStartTime(pid)
    const { worktree_path } = await report(session.id)
    expect(existsSync(join(worktree_path ?? "", "note.txt"))).toBe(true)

    expect((await rewake.api("DELETE", `/api/v1/tasks/${task.id}`)).status).toBe(204)
    for (const path of [`/api/v1/tasks/${task.id}`, `/api/v1/sessions/${session.id}`, `/api/v1/sessions/${session.id}/events`]) {
      expect((await rewake.api("GET", path)).status).toBe(404)
    }
    expect((await rewake.api("DELETE", `/api/v1/tasks/${task.id}`)).status).toBe(404)
    await waitUntil(() => processStartTime(pid) !== life, "the agent to end")
    await waitUntil(() => !existsSync(worktree_path ?? ""), "the files to go")
    const db = await openDatabase({ kind: "postgresql", url: rewake.database.url as string })
    const of = { where: { session_id: session.id } }
    await waitUntil(async () => (await db.task.findUnique({ where: { id: task.id } })) === null, "the rows to go")
    expect(await db.session.findUnique({ where: { id: session.id } })).toBeNull()
    const left = await Promise.all([db.sessionEvent.count(of), db.prompt.count(of), db.resumeToken.count(of), db.executorRunning.count(of)])
    expect(left).toEqual([0, 0, 0, 0])
    await db.$disconnect()

    await rewake.append(kept.task.id, "recall")
    expect(agentText(await rewake.waitForRuns(kept.session.id, 2))).toContain("I remember: keep")
  })
})

import { describe, expect, test } from "vitest"
import type { AuditPage } from "../../lib/contracts/audit"
import type { QueuedPrompt, SessionView, TaskView } from "../../lib/contracts/task"
import type { WorkerView } from "../../lib/contracts/workers"
import { processStartTime } from "../../lib/host/process-identity"
import { DATABASES, Rewake } from "../support/server"
import { runSql } from "../support/sql"
import { TERMINAL_ENV, Viewer } from "../support/terminal"
import { useServer } from "../support/use-server"
import { allowUsers, changeUser, createUser, type TestUser } from "../support/users"
import { waitUntil } from "../support/wait-until"

const ENDLESS = "count 100000 20"
type Made = { task: TaskView; session: SessionView }

/** A user at work: a run that does not end by itself, a message behind it, and a shell. */
async function atWork(rewake: Rewake, user: TestUser, server = rewake) {
  const api = server.as(user.token)
  const { task, session } = (await api<Made>("POST", "/api/v1/tasks", { message: ENDLESS })).body
  const of = `/api/v1/sessions/${session.id}`
  const state = async () => (await api<SessionView>("GET", of)).body.state
  await waitUntil(async () => (await state()) === "RUNNING", "the run")
  expect((await api("POST", `/api/v1/tasks/${task.id}/append`, { message: "and then this" })).status).toBe(202)
  const { worker } = (await api<{ worker: WorkerView }>("POST", `${of}/workers`, { type: "terminal" })).body
  const socket = server.socket(user.token)
  const viewer = new Viewer(socket, worker)
  await viewer.attach()
  await viewer.type("echo the shell is $$\n")
  const shell = Number(await waitUntil(() => /the shell is (\d+)/.exec(viewer.text())?.[1], "the shell"))
  return { task, session, of, socket, worker, shell, started: processStartTime(shell) }
}
type AtWork = Awaited<ReturnType<typeof atWork>>

const kinds = async (rewake: Rewake, user: TestUser, of: string) =>
  (await rewake.as(user.token)<{ events: { kind: string }[] }>("GET", `${of}/events?limit=2000`)).body.events.map(({ kind }) => kind)

async function expectStopped(rewake: Rewake, user: TestUser, work: AtWork) {
  // Tokens are revoked with the role: the user signs in again to look.
  const again = { ...user, token: await rewake.issueToken(user.email) }
  const api = rewake.as(again.token)
  await waitUntil(async () => (await kinds(rewake, again, work.of)).includes("agent.exited"), "the agent to be stopped")
  const log = await waitUntil(async () => {
    const found = await kinds(rewake, again, work.of)
    return found.includes("run.cancelled") ? found : null
  }, "the run to be cancelled")
  expect(log.filter((kind) => ["run.failed", "run.interrupted", "run.completed"].includes(kind))).toEqual([])
  await waitUntil(() => processStartTime(work.shell) !== work.started, "the shell to be ended")
  const { prompts } = (await api<{ prompts: QueuedPrompt[] }>("GET", `${work.of}/queue`)).body
  expect(prompts).toMatchObject([{ message: "and then this", held: true }])
  const entries = () => rewake.api<AuditPage>("GET", "/api/v1/admin/audit?action=user.work_stopped&limit=200")
  const ofSession = async () => (await entries()).body.items.filter(({ target }) => target === work.session.id)
  await waitUntil(async () => (await ofSession()).length > 0, "the entry in the security log")
}

async function expectBarred(rewake: Rewake, user: TestUser, work: AtWork) {
  const token = await rewake.issueToken(user.email)
  const api = rewake.as(token)
  const { task, of, worker, session } = work
  for (const [method, path, body] of [
    ["POST", "/api/v1/tasks", { message: "hello" }],
    ["POST", `/api/v1/tasks/${task.id}/append`, { message: "hello" }],
    ["POST", `/api/v1/tasks/${task.id}/restore`, {}],
    ["POST", `${of}/resume`, {}],
    ["POST", `${of}/workers`, { type: "terminal" }],
    ["POST", `${of}/workers/${worker.id}/restart`, { continue: false }],
    ["PUT", `${of}/file?path=new.txt`, "text"],
    ["GET", "/api/v1/workspaces", undefined],
  ] as const) {
    const answer = await api(method, path, body)
    expect([method, path, answer.status, answer.body.code]).toEqual([method, path, 403, "FORBIDDEN"])
  }
  const socket = rewake.socket(token)
  const attach = await socket.emitWithAck("worker.attach", { session_id: session.id, worker_id: worker.id })
  expect(attach).toMatchObject({ error: { code: "FORBIDDEN" } })
  expect(await socket.emitWithAck("task.session.resume", { session_id: session.id })).toMatchObject({ error: { code: "FORBIDDEN" } })
  // What is theirs stays readable.
  const me = await api<{ runtimes: { standalone: { allowed: boolean; reason: string } } }>("GET", "/api/v1/me")
  expect(me.body.runtimes.standalone).toMatchObject({ allowed: false, reason: expect.stringContaining("admin") })
  expect((await api("GET", `${of}/events`)).status).toBe(200)
  expect(await socket.emitWithAck("session.subscribe", { session_id: session.id, after_seq: 0 })).toHaveProperty("head_seq")
}

const ways: [string, (rewake: Rewake, user: TestUser) => Promise<unknown>][] = [
  ["the setting is switched off", (rewake) => allowUsers(rewake, false)],
  ["an admin is made a user", (rewake, user) => changeUser(rewake, user.id, { role: "user" })],
]

describe.each(DATABASES)("who loses the right to run something, on %s", (database) => {
  const rewake = useServer({ database, env: TERMINAL_ENV, durations: { socketCheckMs: 300 } })

  test.each(ways)("%s: agents and shells end, messages are held, sockets close, and nothing starts", async (_, loseRights) => {
    await allowUsers(rewake, true)
    const user = await createUser(rewake, loseRights === ways[1]?.[1] ? "admin" : "user")
    if (loseRights === ways[1]?.[1]) await allowUsers(rewake, false)
    const work = await atWork(rewake, user)
    await loseRights(rewake, user)
    await waitUntil(() => work.socket.disconnected, "the socket to be closed")
    await expectStopped(rewake, user, work)
    await expectBarred(rewake, user, work)
  })

  test("a user who is disabled: agents, shells and queue stop; enabled again, the message is released and delivered", async () => {
    await allowUsers(rewake, true)
    const user = await createUser(rewake)
    const work = await atWork(rewake, user)
    await changeUser(rewake, user.id, { disabled: true })
    await waitUntil(() => work.socket.disconnected, "the socket to be closed")
    expect((await user.api("GET", "/api/v1/me")).status).toBe(401)
    await waitUntil(() => processStartTime(work.shell) !== work.started, "the shell to be ended")
    await changeUser(rewake, user.id, { disabled: false })
    await expectStopped(rewake, user, work)
    const api = rewake.as(await rewake.issueToken(user.email))
    const { prompts } = (await api<{ prompts: QueuedPrompt[] }>("GET", `${work.of}/queue`)).body
    expect((await api("PATCH", `${work.of}/queue/${prompts[0]?.prompt_id}`, { held: false })).status).toBe(200)
    await waitUntil(async () => {
      const { events } = (await api<{ events: { kind: string }[] }>("GET", `${work.of}/events?limit=2000`)).body
      return events.filter(({ kind }) => kind === "run.completed").length === 1
    }, "the message to be answered")
  })

  test("a server killed before it could stop anything: the next one stops it", async () => {
    await allowUsers(rewake, true)
    const user = await createUser(rewake)
    const work = await atWork(rewake, user)
    await rewake.kill9()
    await runSql(rewake.sqlPlace(), "UPDATE settings SET value = 'false' WHERE key = 'standalone_for_users'")
    await rewake.boot()
    await expectStopped(rewake, user, work)
  })

  test("a message accepted just before the right is lost never reaches an agent as a run that goes on", async () => {
    await allowUsers(rewake, true)
    const user = await createUser(rewake, "admin")
    await allowUsers(rewake, false)
    const { session } = (await user.api<Made>("POST", "/api/v1/tasks", { message: ENDLESS })).body
    expect((await changeUser(rewake, user.id, { role: "user" })).status).toBe(204)
    const api = rewake.as(await rewake.issueToken(user.email))
    const of = `/api/v1/sessions/${session.id}`
    const events = async () => (await api<{ events: { kind: string }[] }>("GET", `${of}/events?limit=2000`)).body.events
    await waitUntil(async () => {
      const kinds = (await events()).map(({ kind }) => kind)
      return kinds.includes("prompt.held") || kinds.includes("run.cancelled")
    }, "the message to be held, or its run to be cancelled")
    const ends = (await events()).filter(({ kind }) => ["run.completed", "run.failed", "run.interrupted"].includes(kind))
    expect(ends).toEqual([])
  })
})

test("with two servers, the one the user is not connected to changes the role, and the other stops the work", async () => {
  const rewake = await Rewake.start({ database: "postgresql", env: TERMINAL_ENV })
  const second = await rewake.secondServer()
  try {
    await allowUsers(rewake, true)
    const user = await createUser(rewake)
    const work = await atWork(rewake, user, second)
    await changeUser(rewake, user.id, { disabled: true })
    await waitUntil(() => work.socket.disconnected, "the socket to be closed")
    await waitUntil(() => processStartTime(work.shell) !== work.started, "the shell to be ended")
    await changeUser(rewake, user.id, { disabled: false })
    await expectStopped(rewake, user, work)
  } finally {
    await second.kill9()
    await rewake.stop()
  }
})

import { beforeAll, describe, expect, test } from "vitest"
import { type CallName, callNamed, callNames, type GivenBody, type GivenParams, type GivenQuery } from "../../lib/contracts/api"
import { type SocketRequest, socketRequests } from "../../lib/contracts/socket-requests"
import type { SessionView, TaskView } from "../../lib/contracts/task"
import type { WorkerView } from "../../lib/contracts/workers"
import { useServer } from "../support/use-server"
import { allowUsers, changeUser, createUser, type TestUser } from "../support/users"
import { waitUntil } from "../support/wait-until"

/**
 * Every call of the API and every request of a socket, asked by those who may not. A new one does not compile until it has an example
 * here, and fails until it is refused to whom it should be.
 */
const rewake = useServer({ env: { SHELL: "/bin/sh" } })

type Owned = { task: TaskView; session: SessionView; worker: WorkerView; promptId: string; commentId: string; attachmentId: string }
type Example<K extends CallName> = { query?: GivenQuery<K>; body?: GivenBody<K>; bytes?: string } & (GivenParams<K> extends undefined
  ? object
  : { params: GivenParams<K> })

let owner: TestUser
let other: TestUser
let demoted: TestUser
let disabled: TestUser
let victim: TestUser
const owned = new Map<TestUser, Owned>()
const plainSha = "0".repeat(64)

/** What each call is asked with. Everything is of its form, so that nothing but a missing right refuses it. */
const examples = (of: Owned): { [K in CallName]: Example<K> } => {
  const [taskId, sessionId, workerId] = [of.task.id, of.session.id, of.worker.id]
  const session = { params: { sessionId } }
  const worker = { params: { sessionId, workerId } }
  const agent = { id: "matrix", name: "Matrix", acp: { command: "true", args: [] } }
  return {
    "GET /api/v1/tasks": {},
    "POST /api/v1/tasks": { body: { message: "hello" } },
    "GET /api/v1/tasks/{taskId}": { params: { taskId } },
    "PATCH /api/v1/tasks/{taskId}": { params: { taskId }, body: { title: "renamed" } },
    "POST /api/v1/tasks/{taskId}/append": { params: { taskId }, body: { message: "hello" } },
    "GET /api/v1/tasks/{taskId}/restore": { params: { taskId } },
    "POST /api/v1/tasks/{taskId}/restore": { params: { taskId }, body: {} },
    "POST /api/v1/tasks/{taskId}/sessions": { params: { taskId }, body: {} },
    "POST /api/v1/attachments": { query: { name: "note.txt" }, bytes: "a note" },
    "GET /api/v1/attachments/{attachmentId}": { params: { attachmentId: of.attachmentId } },
    "GET /api/v1/sessions/{sessionId}": session,
    "GET /api/v1/sessions/{sessionId}/status": session,
    "GET /api/v1/sessions/{sessionId}/events": session,
    "POST /api/v1/sessions/{sessionId}/resume": { ...session, body: {} },
    "GET /api/v1/sessions/{sessionId}/setup": session,
    "PATCH /api/v1/sessions/{sessionId}/setup": { ...session, body: { options: { mode: "ask" } } },
    "POST /api/v1/sessions/{sessionId}/cancel": session,
    "POST /api/v1/sessions/{sessionId}/stop": session,
    "POST /api/v1/sessions/{sessionId}/abandon": session,
    "POST /api/v1/sessions/{sessionId}/waits/{tokenId}": {
      params: { sessionId, tokenId: "rt_unknown" },
      body: { secret: "x", outcome: { kind: "cancelled" } },
    },
    "GET /api/v1/sessions/{sessionId}/queue": session,
    "PATCH /api/v1/sessions/{sessionId}/queue/{promptId}": { params: { sessionId, promptId: of.promptId }, body: { message: "edited" } },
    "DELETE /api/v1/sessions/{sessionId}/queue/{promptId}": { params: { sessionId, promptId: of.promptId } },
    "GET /api/v1/sessions/{sessionId}/export": session,
    "POST /api/v1/sessions/import": { bytes: "not a tar" },
    "GET /api/v1/sessions/{sessionId}/rejected/{sha256}": { params: { sessionId, sha256: plainSha } },
    "GET /api/v1/sessions/{sessionId}/workers": session,
    "POST /api/v1/sessions/{sessionId}/workers": { ...session, body: { type: "terminal" } },
    "GET /api/v1/sessions/{sessionId}/workers/{workerId}": worker,
    "PATCH /api/v1/sessions/{sessionId}/workers/{workerId}": { ...worker, body: { name: "renamed" } },
    "POST /api/v1/sessions/{sessionId}/workers/{workerId}/restart": { ...worker, body: { continue: false } },
    "GET /api/v1/sessions/{sessionId}/workers/{workerId}/history": { ...worker, query: { before: 1 } },
    "DELETE /api/v1/sessions/{sessionId}/workers/{workerId}": worker,
    "GET /api/v1/sessions/{sessionId}/files": session,
    "GET /api/v1/sessions/{sessionId}/file": { ...session, query: { path: "a.txt" } },
    "PUT /api/v1/sessions/{sessionId}/file": { ...session, query: { path: "a.txt" }, bytes: "text" },
    "GET /api/v1/sessions/{sessionId}/diff": session,
    "GET /api/v1/sessions/{sessionId}/comments": session,
    "POST /api/v1/sessions/{sessionId}/comments": {
      ...session,
      body: { path: "a.txt", side: "new", line: 1, line_text: "a", content: "why?" },
    },
    "PATCH /api/v1/sessions/{sessionId}/comments/{commentId}": { params: { sessionId, commentId: of.commentId }, body: { content: "so" } },
    "POST /api/v1/sessions/{sessionId}/comments/send": { ...session, body: { client_message_id: "matrix" } },
    "DELETE /api/v1/sessions/{sessionId}/comments/{commentId}": { params: { sessionId, commentId: of.commentId } },
    "GET /api/v1/workspaces": {},
    "GET /api/v1/agents": {},
    "POST /api/v1/agents/{agentId}/install": { params: { agentId: "unknown-agent" } },
    "GET /api/v1/admin/agents": {},
    "POST /api/v1/admin/agents": { body: agent },
    "PUT /api/v1/admin/agents/{agentId}": { params: { agentId: "matrix" }, body: agent },
    "PUT /api/v1/admin/agents/{agentId}/variables": { params: { agentId: "matrix" }, body: { name: "KEY", value: "x" } },
    "DELETE /api/v1/admin/agents/{agentId}": { params: { agentId: "matrix" } },
    "GET /api/v1/admin/mcp-servers": {},
    "PUT /api/v1/admin/mcp-servers/{name}": {
      params: { name: "matrix" },
      body: { server: { transport: "stdio", command: "true", args: [] }, values: {} },
    },
    "DELETE /api/v1/admin/mcp-servers/{name}": { params: { name: "matrix" } },
    "GET /api/v1/me": {},
    "GET /api/v1/me/sign-ins": {},
    "DELETE /api/v1/me/sign-ins": {},
    "GET /api/v1/me/identities": {},
    "POST /api/v1/me/identities": { body: { current_password: "not the password" } },
    "DELETE /api/v1/me/identities": { query: { id: "idn_unknown" } },
    "GET /api/v1/me/git-credentials": {},
    "PUT /api/v1/me/git-credentials": { body: { host: "git.example.org", username: "me", secret: "x" } },
    "DELETE /api/v1/me/git-credentials": { query: { host: "git.example.org" } },
    "GET /api/v1/tokens": {},
    "POST /api/v1/tokens": { body: { name: "matrix" } },
    "DELETE /api/v1/tokens": { query: { id: "tok_unknown" } },
    "GET /api/v1/sign-in-methods": {},
    "POST /api/v1/setup": { body: { code: "setup_x", email: "x@example.org", password: "a long password" } },
    "POST /api/v1/invitations/accept": { body: { code: "inv_x", password: "a long password" } },
    "POST /api/v1/invitations/connect": { body: { code: "inv_x" } },
    "POST /api/v1/password-reset": { body: { code: "rst_x", password: "a long password" } },
    "GET /api/v1/admin/users": {},
    "POST /api/v1/admin/users": { body: { email: "made@example.org", password: "a long password" } },
    "PATCH /api/v1/admin/users": { body: { id: victim.id, role: "user" } },
    "POST /api/v1/admin/users/{userId}/password-reset": { params: { userId: victim.id } },
    "POST /api/v1/admin/users/{userId}/sign-out": { params: { userId: victim.id } },
    "GET /api/v1/admin/invitations": {},
    "POST /api/v1/admin/invitations": { body: { email: "invited@example.org" } },
    "DELETE /api/v1/admin/invitations": { query: { id: "inv_unknown" } },
    "GET /api/v1/admin/settings": {},
    "PATCH /api/v1/admin/settings": { body: {} },
    "GET /api/v1/admin/audit": {},
    "GET /api/v1/admin/audit/export": {},
    "GET /api/v1/admin/sessions": {},
    "POST /api/v1/admin/sessions": { body: { session_id: sessionId, action: "stop" } },
    "GET /api/v1/admin/recoveries": {},
    "GET /api/v1/admin/archives": {},
    "POST /api/v1/admin/archives/run": {},
    "GET /api/v1/admin/executors": {},
    "GET /api/health": {},
    "GET /api/ready": {},
    "GET /api/metrics": {},
    "GET /api/v1/openapi.json": {},
    // Last, because they take away what the others are asked about.
    "POST /api/v1/me/password": { body: { current_password: "not the password", new_password: "another long password" } },
    "DELETE /api/v1/tasks/{taskId}": { params: { taskId } },
  }
}
/** Refused to everybody here for a reason of their own: what they say is wrong, not who says it. */
const REFUSES_CONTENT = new Set<CallName>(["POST /api/v1/setup", "POST /api/v1/me/password", "POST /api/v1/me/identities"])

type Loose = { params?: Record<string, unknown>; query?: Record<string, unknown>; body?: unknown; bytes?: string }
async function ask(name: CallName, token: string, of: Owned): Promise<number> {
  const { method, path } = callNamed(name)
  const { params = {}, query = {}, body, bytes } = examples(of)[name] as Loose
  const filled = path.replace(/\{(\w+)\}/g, (_, key: string) => encodeURIComponent(String(params[key])))
  const search = new URLSearchParams(Object.entries(query).map(([key, value]) => [key, String(value)]))
  const response = await fetch(`${rewake.url}${filled}?${search}`, {
    method,
    headers: {
      ...(token ? { authorization: `Bearer ${token}` } : {}),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(bytes !== undefined ? { body: bytes } : body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  await response.arrayBuffer()
  return response.status
}
const ORDER = () => Object.keys(examples(owned.get(owner) as Owned)) as CallName[]
const nameable = (name: CallName) => /\{(taskId|sessionId|attachmentId)\}/.test(name)

async function makeOwned(user: TestUser): Promise<Owned> {
  const { task, session } = (
    await user.api<{ task: TaskView; session: SessionView }>("POST", "/api/v1/tasks", { message: "remember pear" })
  ).body
  const of = `/api/v1/sessions/${session.id}`
  await waitUntil(async () => (await user.api<SessionView>("GET", of)).body.state === "WAITING_FOR_INPUT", "the first run")
  const { worker } = (await user.api<{ worker: WorkerView }>("POST", `${of}/workers`, { type: "terminal" })).body
  const comment = { path: "a.txt", side: "new", line: 1, line_text: "a", content: "why?" }
  const { id: commentId } = (await user.api<{ id: string }>("POST", `${of}/comments`, comment)).body
  const { attachment } = (await user.api<{ attachment: { id: string } }>("POST", "/api/v1/attachments?name=note.txt", "a note")).body
  const { events } = (await user.api<{ events: { kind: string; prompt_id: string }[] }>("GET", `${of}/events`)).body
  const promptId = events.find(({ kind }) => kind === "prompt.queued")?.prompt_id ?? ""
  return { task, session, worker, promptId, commentId, attachmentId: attachment.id }
}

beforeAll(async () => {
  await allowUsers(rewake, true)
  ;[owner, other, victim] = [await createUser(rewake, "admin"), await createUser(rewake), await createUser(rewake)]
  ;[demoted, disabled] = [await createUser(rewake), await createUser(rewake)]
  for (const user of [owner, demoted, disabled]) owned.set(user, await makeOwned(user))
  await allowUsers(rewake, false)
  await changeUser(rewake, disabled.id, { disabled: true })
})

test("every call of the table has an example here", () => {
  expect(ORDER().sort()).toEqual([...callNames].sort())
})

/** Which of these calls were answered otherwise than the table says. */
async function walk(token: string, of: Owned, isRight: (status: number, name: CallName) => boolean): Promise<string[]> {
  const wrong: string[] = []
  for (const name of ORDER()) {
    const status = await ask(name, token, of)
    if (!isRight(status, name)) wrong.push(`${name}: ${status}`)
  }
  return wrong
}
const access = (name: CallName) => callNamed(name).call.access
const of = (user: TestUser) => owned.get(user) as Owned

describe("HTTP", () => {
  test("without a credential only calls open to anyone are answered", async () => {
    expect(await walk("", of(owner), (status, name) => (status === 401) === (access(name) !== "anyone"))).toEqual([])
  })

  test("a disabled user's token opens what is open to anyone, and nothing else", async () => {
    expect(await walk(disabled.token, of(disabled), (status, name) => (status === 401) === (access(name) !== "anyone"))).toEqual([])
  })

  test("another user is told that what is not theirs does not exist, and that admins' calls are admins'", async () => {
    const expected = (name: CallName) => (access(name) === "admin" ? 403 : nameable(name) ? 404 : access(name) === "runner" ? 403 : null)
    const wrong = await walk(other.token, of(owner), (status, name) => {
      const wanted = expected(name)
      return wanted === null ? REFUSES_CONTENT.has(name) || ![401, 403].includes(status) : status === wanted
    })
    expect(wrong).toEqual([])
  })

  test("a user who may not run anything reads what is theirs, and starts and writes nothing", async () => {
    const isRefused = (name: CallName) => access(name) === "admin" || access(name) === "runner"
    const wrong = await walk(
      demoted.token,
      of(demoted),
      (status, name) => REFUSES_CONTENT.has(name) || (status === 403) === isRefused(name),
    )
    expect(wrong).toEqual([])
  })

  test("an admin is refused nothing for being who they are", async () => {
    const wrong = await walk(owner.token, of(owner), (status, name) => REFUSES_CONTENT.has(name) || ![401, 403].includes(status))
    expect(wrong).toEqual([])
  })
})

describe("sockets", () => {
  const asked = (of: Owned): { [N in SocketRequest]: object } => {
    const session_id = of.session.id
    const worker = { session_id, worker_id: of.worker.id }
    return {
      "session.subscribe": { session_id, after_seq: 0 },
      "session.unsubscribe": { session_id },
      "task.session.status": { session_id },
      "task.session.resume": { session_id },
      "workspace.watch": { session_id },
      "workspace.unwatch": { session_id },
      "worker.attach": worker,
      "worker.input": { ...worker, data: "x" },
      "worker.resize": { ...worker, cols: 80, rows: 24 },
      "worker.ack": { ...worker, offset: 0 },
      "worker.detach": worker,
    }
  }
  /** They undo what the same socket did, and say nothing of anything else. */
  const ownOnly = new Set(["session.unsubscribe", "workspace.unwatch", "worker.ack", "worker.detach"])
  type Answered = { error?: { code: string } }

  test("no socket is opened without a credential that counts", async () => {
    for (const token of ["", "rwk_unknown", disabled.token]) {
      const socket = rewake.socket(token)
      const error = await new Promise<Error & { data?: { code: string } }>((resolve) => socket.once("connect_error", resolve))
      expect(error.data?.code).toBe("UNAUTHENTICATED")
      socket.disconnect()
    }
  })

  test("a stranger's session does not exist on any request; a user who may not run anything only reads", async () => {
    const demotedOf = await (async () => {
      await allowUsers(rewake, true)
      const made = await makeOwned(demoted)
      await allowUsers(rewake, false)
      return made
    })()
    const [stranger, reader] = [rewake.socket(other.token), rewake.socket(demoted.token)]
    for (const [name, request] of Object.entries(asked(demotedOf)) as [SocketRequest, object][]) {
      const told = (await stranger.emitWithAck(name, request)) as Answered
      if (!ownOnly.has(name)) expect([name, told.error?.code]).toEqual([name, "NOT_FOUND"])
      const own = (await reader.emitWithAck(name, request)) as Answered
      // Without an attached terminal there is nothing to type into or to resize.
      const refused =
        socketRequests[name].access === "runner"
          ? name === "worker.input" || name === "worker.resize"
            ? "NOT_FOUND"
            : "FORBIDDEN"
          : undefined
      expect([name, own.error?.code]).toEqual([name, refused])
    }
  })
})

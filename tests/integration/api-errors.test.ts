import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Socket } from "socket.io-client"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { SessionView, TaskView } from "../../lib/contracts/task"
import { openDatabase } from "../../server/platform/database"
import { type Answer, DATABASES, Rewake } from "../support/server"

describe.each(DATABASES)("bad input, on %s", (database) => {
  let rewake: Rewake
  let task: TaskView
  let session: SessionView
  let outside: string
  let programs: string
  let rows: Awaited<ReturnType<typeof openDatabase>>

  beforeAll(async () => {
    // A PATH that holds git and nothing of any vendor's: their agents are certainly not there.
    programs = mkdtempSync(join(tmpdir(), "rewake-path-"))
    outside = mkdtempSync(join(tmpdir(), "rewake-outside-"))
    execFileSync("git", ["init", "-q", outside])
    symlinkSync(execFileSync("which", ["git"], { encoding: "utf8" }).trim(), join(programs, "git"))
    rewake = await Rewake.start({ database, env: { PATH: programs, MAX_MESSAGE_BYTES: "2000" } })
    ;({ task, session } = await rewake.createTask("hello"))
    await rewake.waitForRuns(session.id, 1)
    await rewake.waitForEvent(session.id, (event) => event.kind === "status.derived" && event.status === "idle", "the end of the turn")
    rows = await openDatabase(
      rewake.database.url ? { kind: "postgresql", url: rewake.database.url } : { kind: "sqlite", file: join(rewake.dataDir, "rewake.db") },
    )
  })
  afterAll(async () => {
    await rows?.$disconnect()
    await rewake?.stop()
    for (const folder of [outside, programs]) rmSync(folder, { recursive: true, force: true })
  })

  const counts = async () => ({
    events: await rows.sessionEvent.count(),
    prompts: await rows.prompt.count(),
    tasks: await rows.task.count(),
    sessions: await rows.session.count(),
    users: await rows.user.count(),
    invitations: await rows.invitation.count(),
    tokens: await rows.resumeToken.count(),
  })

  /** The refusal names its code, says a sentence, and wrote nothing. */
  async function refused(call: () => Promise<Answer>, status: number, code: string): Promise<Answer> {
    const before = await counts()
    const answer = await call()
    expect([answer.status, answer.body.code]).toEqual([status, code])
    expectSentence(answer.body.message)
    expect(await counts()).toEqual(before)
    return answer
  }
  const api = (method: string, path: string, body?: unknown, headers?: Record<string, string>) => () =>
    rewake.api(method, path, body, headers)

  test.each([
    ["a body that is not JSON", "{"],
    ["a list instead of an object", []],
    ["no message", {}],
    ["an empty message", { message: "" }],
    ["a message that is no text", { message: 5 }],
    ["an agent nobody knows", { message: "x", agent: "nobody" }],
    ["a type nobody knows", { message: "x", type: "song" }],
    ["a runtime that is not set up", { message: "x", runtime: "docker" }],
    ["a code task without a repository", { message: "x", type: "code" }],
    ["an empty title", { message: "x", title: "  " }],
  ])("a task with %s is refused as INVALID_INPUT", async (_, body) => {
    const { body: answer } = await refused(api("POST", "/api/v1/tasks", body), 400, "INVALID_INPUT")
    expect(answer.issues).not.toHaveLength(0)
  })

  test("other calls refuse malformed input as well", async () => {
    const of = `/api/v1/sessions/${session.id}`
    await refused(api("POST", `/api/v1/tasks/${task.id}/append`, { message: "" }), 400, "INVALID_INPUT")
    await refused(api("POST", `/api/v1/tasks/${task.id}/append`, { message: "x", client_message_id: "" }), 400, "INVALID_INPUT")
    await refused(api("PATCH", `/api/v1/tasks/${task.id}`, { state: "FAILED" }), 400, "INVALID_INPUT")
    await refused(api("POST", `${of}/waits/rt_1`, { secret: "x", outcome: { kind: "maybe" } }), 400, "INVALID_INPUT")
    for (const id of ["abc", "%00", "1e400", "1;2"]) await refused(api("GET", `/api/v1/tasks/${id}`), 400, "INVALID_INPUT")
    await refused(api("GET", `${of}/events?after=-1`), 400, "INVALID_INPUT")
    await refused(api("GET", `${of}/events?after=x`), 400, "INVALID_INPUT")
    await refused(api("GET", `${of}/events?limit=0`), 400, "INVALID_INPUT")
    await refused(api("GET", "/api/v1/tasks?cursor=nonsense"), 400, "INVALID_INPUT")
    await refused(api("GET", "/api/v1/tasks?limit=0"), 400, "INVALID_INPUT")
    await refused(api("POST", "/api/v1/admin/invitations", { email: "not an address" }), 400, "INVALID_INPUT")
    await refused(api("POST", "/api/v1/me/password", { current_password: "x", new_password: "short" }), 400, "INVALID_INPUT")
    await refused(api("POST", "/api/v1/tokens", { name: "" }), 400, "INVALID_INPUT")
  })

  test("ids nobody knows are answered NOT_FOUND, however odd they are", async () => {
    for (const id of ["999999", "0", "-1", "1.5", "99999999999999999999"]) {
      await refused(api("GET", `/api/v1/tasks/${id}`), 404, "NOT_FOUND")
      await refused(api("PATCH", `/api/v1/tasks/${id}`, { title: "x" }), 404, "NOT_FOUND")
      await refused(api("POST", `/api/v1/tasks/${id}/append`, { message: "x" }), 404, "NOT_FOUND")
    }
    await refused(api("DELETE", "/api/v1/tasks/999999"), 404, "NOT_FOUND")
    await refused(api("POST", "/api/v1/tasks/999999/sessions", {}), 404, "NOT_FOUND")
    for (const id of ["sess_unknown", "nonsense", "sess_%00", "sess_..%2F..%2Fetc", "sess_%F0%9F%98%80"]) {
      for (const part of ["", "/status", "/events", "/queue"]) await refused(api("GET", `/api/v1/sessions/${id}${part}`), 404, "NOT_FOUND")
      for (const part of ["/resume", "/cancel", "/stop"]) await refused(api("POST", `/api/v1/sessions/${id}${part}`, {}), 404, "NOT_FOUND")
    }
    await refused(api("POST", `/api/v1/tasks/${task.id}/append`, { message: "x", session_id: "sess_unknown" }), 404, "NOT_FOUND")
    await refused(api("PATCH", `/api/v1/sessions/${session.id}/queue/prm_unknown`, { message: "x" }), 404, "NOT_FOUND")
    await refused(api("DELETE", `/api/v1/sessions/${session.id}/queue/prm_unknown`), 404, "NOT_FOUND")
    await refused(api("DELETE", "/api/v1/tokens?id=tok_unknown"), 404, "NOT_FOUND")
    await refused(api("PATCH", "/api/v1/admin/users", { id: "usr_unknown", role: "user" }), 404, "NOT_FOUND")
  })

  test("a message over the limit is refused with the limit, one at the limit is taken", async () => {
    for (const message of ["x".repeat(2001), "€".repeat(667), "x".repeat(100_000)]) {
      const { body } = await refused(api("POST", `/api/v1/tasks/${task.id}/append`, { message }), 413, "PAYLOAD_TOO_LARGE")
      expect(body.limit_bytes).toBe(2000)
      await refused(api("POST", "/api/v1/tasks", { message }), 413, "PAYLOAD_TOO_LARGE")
    }
    await rewake.append(task.id, "x".repeat(2000))
    await rewake.waitForRuns(session.id, 2)
  })

  test("a workspace that is missing, no repository, or outside the allowed folders is refused before anything is made", async () => {
    const folder = join(rewake.dataDir, "plain")
    mkdirSync(folder)
    symlinkSync(outside, join(rewake.dataDir, "way-out"))
    const code = (repository: string) => api("POST", "/api/v1/tasks", { type: "code", message: "x", repository })
    await refused(code(join(rewake.dataDir, "missing")), 422, "WORKSPACE_NOT_FOUND")
    await refused(code(folder), 422, "WORKSPACE_NOT_FOUND")
    await refused(code("some/relative/path"), 422, "WORKSPACE_NOT_FOUND")
    for (const path of [outside, "/etc", "/no/such/folder", join(rewake.dataDir, "way-out"), `${folder}/../../..`, `file://${outside}`]) {
      await refused(code(path), 422, "WORKSPACE_NOT_ALLOWED")
    }
  })

  test("an agent whose command is not there is refused by name", async () => {
    const { body } = await refused(api("POST", "/api/v1/tasks", { message: "x", agent: "gemini" }), 422, "AGENT_UNAVAILABLE")
    expect(body.agent).toBe("gemini")
    await refused(api("POST", `/api/v1/tasks/${task.id}/sessions`, { agent: "codex" }), 422, "AGENT_UNAVAILABLE")
    const { items } = (
      await rewake.api<{ items: { id: string; available: boolean; unavailable_reason: string | null }[] }>("GET", "/api/v1/agents")
    ).body
    expect(items.find((agent) => agent.id === "gemini")).toMatchObject({
      available: false,
      unavailable_reason: expect.stringContaining("gemini"),
    })
  })

  test("a cursor beyond the head is refused over HTTP and over the socket, with the head", async () => {
    const { last_seq } = await rewake.session(session.id)
    const { body } = await refused(api("GET", `/api/v1/sessions/${session.id}/events?after=${last_seq + 1}`), 400, "CURSOR_AHEAD")
    expect(body.head_seq).toBe(last_seq)
    const socket = await connected(rewake.socket())
    const ack = await socket.emitWithAck("session.subscribe", { session_id: session.id, after_seq: last_seq + 1 })
    expect(ack.error).toMatchObject({ code: "CURSOR_AHEAD", head_seq: last_seq })
    expectSentence(ack.error.message)
  })

  test("socket requests that are malformed, or about a session that is not theirs, are acknowledged with the error", async () => {
    const socket = await connected(rewake.socket())
    for (const [name, request, code] of [
      ["session.subscribe", { session_id: "sess_unknown", after_seq: 0 }, "NOT_FOUND"],
      ["session.subscribe", { session_id: session.id }, "INVALID_INPUT"],
      ["session.subscribe", { session_id: session.id, after_seq: -1 }, "INVALID_INPUT"],
      ["session.subscribe", null, "INVALID_INPUT"],
      ["task.session.status", { session_id: "sess_unknown" }, "NOT_FOUND"],
      ["task.session.resume", { session_id: "sess_unknown" }, "NOT_FOUND"],
      ["task.session.resume", "nonsense", "INVALID_INPUT"],
    ] as const) {
      const ack = await socket.emitWithAck(name, request)
      expect(ack.error?.code).toBe(code)
      expectSentence(ack.error.message)
    }
    // A request without an acknowledgement has nobody to tell; the connection lives on.
    socket.emit("session.subscribe", { session_id: session.id, after_seq: 0 })
    expect(await socket.emitWithAck("task.session.status", { session_id: session.id })).toMatchObject({ session_id: session.id })
  })

  test("a handshake with a wrong token, or with none, is a connect_error with its code", async () => {
    for (const token of ["rwk_wrong", ""]) {
      const socket = rewake.socket(token)
      const error = await new Promise<Error & { data?: { code: string; message: string } }>((resolve) =>
        socket.once("connect_error", resolve),
      )
      socket.disconnect()
      expect(error.data?.code).toBe("UNAUTHENTICATED")
      expectSentence(error.data?.message)
    }
  })

  test("without a token, or with a wrong one, every call is UNAUTHENTICATED", async () => {
    for (const token of ["", "rwk_wrong"]) {
      const call = rewake.as(token)
      for (const [method, path] of [
        ["GET", "/api/v1/tasks"],
        ["POST", "/api/v1/tasks"],
        ["GET", `/api/v1/tasks/${task.id}`],
        ["DELETE", `/api/v1/tasks/${task.id}`],
        ["POST", `/api/v1/tasks/${task.id}/append`],
        ["GET", `/api/v1/sessions/${session.id}/events`],
        ["GET", "/api/v1/me"],
        ["GET", "/api/v1/tokens"],
        ["GET", "/api/v1/agents"],
        ["GET", "/api/v1/workspaces"],
        ["GET", "/api/v1/admin/users"],
      ] as const) {
        await refused(() => call(method, path, method === "POST" ? { message: "x" } : undefined), 401, "UNAUTHENTICATED")
      }
    }
  })

  test("a request with a cookie from another site is FORBIDDEN, whatever it asks", async () => {
    const anonymous = rewake.as("")
    for (const origin of ["https://evil.example", "null", `${rewake.url}.evil.example`]) {
      await refused(
        () => anonymous("POST", "/api/v1/tasks", { message: "x" }, { origin, cookie: "next-auth.session-token=anything" }),
        403,
        "FORBIDDEN",
      )
    }
    await refused(() => anonymous("POST", "/api/v1/setup", { code: "x" }, { origin: "https://evil.example" }), 403, "FORBIDDEN")
  })
})

function expectSentence(message: unknown): void {
  expect(message).toEqual(expect.stringMatching(/^[A-Z].{8,}/s))
}

async function connected(socket: Socket): Promise<Socket> {
  if (!socket.connected) await new Promise<void>((resolve, reject) => socket.once("connect", resolve).once("connect_error", reject))
  return socket
}

import { afterEach, expect, test, vi } from "vitest"
import { call, pathOf } from "@/lib/client/api"
import { NetworkError } from "@/lib/client/transport"

afterEach(() => vi.unstubAllGlobals())

/** Answers every request with this, and notes what was asked. */
function answerWith(status: number, text: string) {
  const fetch = vi.fn(async (_path: string, _init: RequestInit) => new Response(status === 204 ? null : text, { status }))
  vi.stubGlobal("fetch", fetch)
  return () => fetch.mock.calls[0]
}

test("method and path come from the call's name; params are encoded, undefined query values left out", async () => {
  const asked = answerWith(200, "{}")
  await call("GET /api/v1/tasks/{taskId}/restore", { params: { taskId: 7 }, query: { session_id: "a b" } })
  expect(asked()?.[0]).toBe("/api/v1/tasks/7/restore?session_id=a+b")
  expect(asked()?.[1]).toMatchObject({ method: "GET", credentials: "same-origin" })
  expect(pathOf("GET /api/v1/attachments/{attachmentId}", { params: { attachmentId: "../x?y" } })).toBe("/api/v1/attachments/..%2Fx%3Fy")
  expect(pathOf("GET /api/v1/tasks", { query: { q: undefined, limit: 5 } })).toBe("/api/v1/tasks?limit=5")
})

test("a body is sent as JSON; a call without one sends none", async () => {
  const asked = answerWith(200, "{}")
  await call("PATCH /api/v1/admin/settings", { body: { standalone_for_users: true } })
  expect(asked()?.[1].body).toBe('{"standalone_for_users":true}')
  const asked2 = answerWith(204, "")
  expect(await call("POST /api/v1/admin/users/{userId}/sign-out", { params: { userId: "usr_1" } })).toBeUndefined()
  expect(asked2()?.[1]).not.toHaveProperty("body")
})

test("an error body becomes its error; an answer of a proxy counts as no answer", async () => {
  answerWith(404, '{"code":"NOT_FOUND","message":"There is no such task.","entity":"task"}')
  await expect(call("GET /api/v1/tasks/{taskId}", { params: { taskId: 1 } })).rejects.toMatchObject({
    code: "NOT_FOUND",
    details: { entity: "task" },
  })
  answerWith(502, "<html>bad gateway</html>")
  await expect(call("GET /api/v1/me")).rejects.toBeInstanceOf(NetworkError)
})

test("a call that leaves out what its entry requires does not compile", () => {
  const notRun = () => {
    // @ts-expect-error params are required
    void call("GET /api/v1/tasks/{taskId}")
    // @ts-expect-error a required query value is missing
    void call("DELETE /api/v1/tokens", { query: {} })
    // @ts-expect-error a body is required, even an empty one
    void call("POST /api/v1/sessions/{sessionId}/resume", { params: { sessionId: "s" } })
    // @ts-expect-error an upload needs its file
    void call("POST /api/v1/attachments", { query: { name: "a" } })
    // @ts-expect-error a file is no JSON
    void call("GET /api/v1/attachments/{attachmentId}", { params: { attachmentId: "a" } })
    // @ts-expect-error this call takes no body
    void call("POST /api/v1/sessions/{sessionId}/cancel", { params: { sessionId: "s" }, body: {} })
    // @ts-expect-error there is no such call
    void call("GET /api/v1/nothing")
  }
  expect(notRun).toBeTypeOf("function")
})

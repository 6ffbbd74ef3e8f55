import { expect, test } from "vitest"
import { refuseUnknownCall } from "../../../server/platform/find-call"

const told = (method: string, url: string) => {
  const refused = refuseUnknownCall(method, url)
  return refused && { status: refused.status, ...(JSON.parse(refused.body) as { code: string }), allow: refused.headers?.allow }
}

test("a path of the API that no call has is answered as JSON", () => {
  for (const url of ["/api/v1/nothing", "/api/nothing", "/api/v1/tasks/1/nothing", "/api/v1/openapi_json"])
    expect(told("GET", url)).toMatchObject({ status: 404, code: "NOT_FOUND" })
})

test("a method that no call of the path has is answered with those it has", () => {
  expect(told("PUT", "/api/v1/tasks")).toMatchObject({ status: 405, code: "METHOD_NOT_ALLOWED", allow: "GET, POST" })
  expect(told("POST", "/api/v1/sessions/sess_1/status")).toMatchObject({ status: 405, allow: "GET" })
})

test("every call of the table, next-auth's own and pages are let through", () => {
  for (const [method, url] of [
    ["GET", "/api/v1/tasks?limit=1"],
    ["HEAD", "/api/v1/tasks"],
    ["POST", "/api/v1/sessions/import?x=1"],
    ["DELETE", "/api/v1/sessions/sess_1/queue/prm_1"],
    ["GET", "/api/v1/openapi.json"],
    ["POST", "/api/auth/callback/credentials"],
    ["GET", "/tasks"],
  ] as const)
    expect(told(method, url)).toBeNull()
})

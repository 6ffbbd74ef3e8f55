import { describe, expect, test } from "vitest"
import { createGate, refusalOf, refusedAnswer } from "../../../server/platform/gate"

const COOKIE = { cookie: "a=1; next-auth.session-token=x" }
const unset = createGate({ configured: null, host: "127.0.0.1", port: 3000 })
const named = createGate({ configured: "https://rewake.example", host: "0.0.0.0", port: 3000 })
const ask = (url: string, headers: Record<string, string>, method = "GET", gate = unset) =>
  refusalOf(gate, { method, url, headers: { host: gate === unset ? "127.0.0.1:3000" : "rewake.example", ...headers } })

describe("who may send a request", () => {
  test.each([
    ["our own page", { ...COOKIE, origin: "http://127.0.0.1:3000" }, null],
    ["our page under another name of this machine", { ...COOKIE, origin: "http://localhost:3000" }, null],
    ["another port of the same host", { ...COOKIE, origin: "http://127.0.0.1:3001" }, "foreign_page"],
    ["another port of the same host, without an origin", { ...COOKIE, "sec-fetch-site": "same-site" }, "foreign_page"],
    ["another site", { ...COOKIE, origin: "https://evil.example" }, "foreign_page"],
    ["a page without an origin of its own", { ...COOKIE, origin: "null" }, "foreign_page"],
    ["another site, with a token", { authorization: "Bearer x", origin: "https://evil.example" }, "foreign_page"],
    ["a page that our site's name begins", { ...COOKIE, origin: "http://127.0.0.1:3000.evil.example" }, "foreign_page"],
    ["our page, which sends no origin with GET", { ...COOKIE, "sec-fetch-site": "same-origin" }, null],
    ["somebody who typed the address", { ...COOKIE, "sec-fetch-site": "none" }, null],
    ["our page over plain http", { ...COOKIE, referer: "http://127.0.0.1:3000/tasks/1" }, null],
    ["another page over plain http", { ...COOKIE, referer: "http://127.0.0.1:3001/" }, "unproven_cookie"],
    ["a cookie and nothing else", COOKIE, "unproven_cookie"],
    ["a secure cookie and nothing else", { cookie: "__Secure-next-auth.session-token.0=x" }, "unproven_cookie"],
    ["a program with a token", { authorization: "Bearer x" }, null],
    ["a program with nothing", {}, null],
  ])("%s: %j → %s", (_who, headers, refusal) => {
    for (const url of ["/api/v1/tasks", "/socket.io/?EIO=4&transport=polling&sid=x", "/api/auth/session"])
      expect(ask(url, headers as Record<string, string>), url).toBe(refusal)
  })

  test("any page may link to ours, and none may post to it", () => {
    expect(ask("/tasks", { ...COOKIE, "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" })).toBeNull()
    expect(ask("/tasks", { ...COOKIE, "sec-fetch-site": "cross-site" }, "POST")).toBe("foreign_page")
  })

  test("a sign-in elsewhere may lead back, by a link only", () => {
    expect(ask("/api/auth/callback/oidc?code=x", { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" })).toBeNull()
    expect(ask("/api/auth/callback/oidc?code=x", { "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" })).toBe("foreign_page")
  })

  test("no socket answers as a script", () => {
    expect(ask("/socket.io/?EIO=4&transport=polling&j=0", { authorization: "Bearer x" })).toBe("jsonp")
  })
})

describe("under which name the server is asked", () => {
  test.each(["evil.example", "127.0.0.1", "127.0.0.1:3001", "rewake.example", ""])("%j is none of its own", (host) => {
    for (const url of ["/", "/api/v1/me", "/socket.io/"]) expect(ask(url, { host, authorization: "Bearer x" })).toBe("wrong_host")
  })
  test("with PUBLIC_URL only that one is, and its page only", () => {
    expect(ask("/", { host: "localhost:3000" }, "GET", named)).toBe("wrong_host")
    expect(ask("/api/v1/me", { ...COOKIE, origin: "https://rewake.example" }, "GET", named)).toBeNull()
    expect(ask("/api/v1/me", { ...COOKIE, origin: "http://rewake.example" }, "GET", named)).toBe("foreign_page")
    expect(ask("/", { host: "Rewake.Example" }, "GET", named)).toBeNull()
  })
  test("health, readiness and metrics are told under any name", () => {
    for (const url of ["/api/health", "/api/ready", "/api/metrics?x=1"]) expect(ask(url, { host: "10.0.0.1:3000" })).toBeNull()
  })
  test("a person is told where the server is; nothing of the address is markup", () => {
    const { status, body } = refusedAnswer("wrong_host", "/", 'https://a.example/"><script>')
    expect(status).toBe(421)
    expect(body).toContain("https://a.example/")
    expect(body).not.toContain("<script>")
    expect(JSON.parse(refusedAnswer("wrong_host", "/api/v1/me", "https://a.example").body)).toMatchObject({ code: "WRONG_HOST" })
  })
})

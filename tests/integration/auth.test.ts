import { execFile } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { Socket } from "socket.io-client"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { Me, SessionView, TaskView } from "../../lib/contracts/task"
import { Browser } from "../support/browser"
import { type Answer, type Api, DATABASES, Rewake } from "../support/server"
import { waitUntil } from "../support/wait-until"

const AUTH_SECRET = "planted-auth-secret-7f3a9c-long-enough"
const admin = { email: "first@example.org", name: "First", password: "planted-admin-password-1" }

describe.each(DATABASES)("people and their sign-ins, on %s", (database) => {
  let rewake: Rewake
  let setupCode: string
  let setupAnswers: Answer[]
  let adminApi: Api
  const browsers: Browser[] = []
  /** Everything that must never be seen in an output or a log. */
  const planted: string[] = [AUTH_SECRET, admin.password]
  const plant = <T extends string>(secret: T): T => {
    planted.push(secret)
    return secret
  }

  beforeAll(async () => {
    rewake = await Rewake.start({ database, empty: true, env: { ADMIN_EMAIL: "", ADMIN_PASSWORD: "", AUTH_SECRET, LOG_LEVEL: "debug" } })
    const link = await waitUntil(() => rewake.output.split("\n").find((line) => line.includes("/setup?code=")), "the link")
    setupCode = new URL(link).searchParams.get("code") ?? ""
    const setUp = (person: object) => rewake.as("")("POST", "/api/v1/setup", { code: setupCode, ...person })
    setupAnswers = await Promise.all([setUp(admin), setUp({ ...admin, email: "rival@example.org" })])
    const winner = setupAnswers[0]?.status === 201 ? admin.email : "rival@example.org"
    rewake.token = plant(await rewake.issueToken(winner))
    adminApi = rewake.api
    admin.email = winner
  })
  afterAll(async () => {
    for (const browser of browsers) browser.close()
    await rewake?.stop()
  })

  async function browser(who?: { email: string; password: string }): Promise<Browser> {
    const made = new Browser(rewake)
    browsers.push(made)
    if (who) {
      expect(await made.signIn(who.email, who.password)).toBeNull()
      plant(made.cookies.get("next-auth.session-token") ?? "no cookie")
    }
    return made
  }
  let people = 0
  async function invited(role: "user" | "admin" = "user") {
    const person = { email: `person${++people}@example.org`, password: plant(`planted-password-${people}-x`), role }
    const { body } = await adminApi<{ link: string }>("POST", "/api/v1/admin/invitations", { email: person.email, role })
    const code = plant(new URL(body.link).searchParams.get("code") ?? "")
    const accepted = await rewake.as("")("POST", "/api/v1/invitations/accept", { code, name: "Somebody", password: person.password })
    expect(accepted.status).toBe(201)
    const token = plant(await rewake.issueToken(person.email))
    const api = rewake.as(token)
    return { ...person, code, token, api, me: (await api<Me>("GET", "/api/v1/me")).body }
  }
  const closed = (socket: Socket) => waitUntil(() => !socket.connected, "the socket to be closed", 10_000)

  test("the first admin is made by a link alone on its line, once, and of two that race one wins", async () => {
    const lines = rewake.output.split("\n").filter((line) => line.includes(setupCode))
    expect(lines).toEqual([`${rewake.url}/setup?code=${setupCode}`])
    expect(setupAnswers.map((answer) => answer.status).sort()).toEqual([201, 403])
    expect(setupAnswers.find((answer) => answer.status === 403)?.body).toMatchObject({ code: "FORBIDDEN" })
    const again = await rewake.as("")("POST", "/api/v1/setup", { code: setupCode, ...admin, email: "third@example.org" })
    expect(again).toMatchObject({ status: 403, body: { code: "FORBIDDEN" } })
    const { items } = (await adminApi<{ items: { email: string; role: string }[] }>("GET", "/api/v1/admin/users")).body
    expect(items.filter((user) => ["first@example.org", "rival@example.org", "third@example.org"].includes(user.email))).toMatchObject([
      { email: admin.email, role: "admin" },
    ])
    expect((await adminApi<Me>("GET", "/api/v1/me")).body).toMatchObject({ email: admin.email, role: "admin" })
  })

  test("signing in gives a cookie no script can read, which opens the API and the sockets", async () => {
    const chrome = await browser(admin)
    const cookie = chrome.setCookies.find((line) => line.startsWith("next-auth.session-token="))
    expect(cookie).toMatch(/; ?HttpOnly/i)
    expect(cookie).toMatch(/; ?SameSite=Lax/i)
    expect((await chrome.api<Me>("GET", "/api/v1/me")).body).toMatchObject({ email: admin.email })
    const { socket, error } = await chrome.connect()
    expect(error).toBeNull()
    expect(await socket.emitWithAck("task.session.status", { session_id: "sess_unknown" })).toMatchObject({ error: { code: "NOT_FOUND" } })
  })

  test("the e-mail address counts however it is written; a wrong password, person or cookie does not get in", async () => {
    await browser({ ...admin, email: admin.email.toUpperCase() })
    const stranger = await browser()
    expect(await stranger.signIn(admin.email, "wrong password")).not.toBeNull()
    expect(await stranger.signIn("nobody@example.org", admin.password)).not.toBeNull()
    expect((await stranger.api("GET", "/api/v1/me")).status).toBe(401)
    stranger.cookies.set("next-auth.session-token", "eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2R0NNIn0..x.y.z")
    expect(await stranger.api("GET", "/api/v1/me")).toMatchObject({ status: 401, body: { code: "UNAUTHENTICATED" } })
    expect((await stranger.connect()).error?.data?.code).toBe("UNAUTHENTICATED")
  })

  test("a socket or a change asked for by another site is refused, even with the cookie", async () => {
    const chrome = await browser(admin)
    const { error } = await chrome.connect({ origin: "https://evil.example" })
    expect(error).not.toBeNull()
    const forged = await chrome.fetch("POST", "/api/v1/tasks", { json: { message: "x" }, headers: { origin: "https://evil.example" } })
    expect(forged.status).toBe(403)
  })

  test("the current password cannot be guessed with a stolen cookie or token: eleven tries are one too many", async () => {
    const person = await invited()
    const guess = () =>
      person.api("POST", "/api/v1/me/password", { current_password: "a guess", new_password: plant("planted-next-password") })
    for (let i = 0; i < 10; i++) expect((await guess()).status).toBe(403)
    expect(await guess()).toMatchObject({ status: 429, body: { code: "RATE_LIMITED" } })
  })

  test("a changed password ends the other browsers' sign-ins and their sockets", async () => {
    const person = await invited()
    const [laptop, phone] = [await browser(person), await browser(person)]
    const { socket } = await phone.connect()
    const next = plant("planted-changed-password")
    expect(await laptop.api("POST", "/api/v1/me/password", { current_password: "wrong", new_password: next })).toMatchObject({
      status: 403,
    })
    expect((await laptop.api("POST", "/api/v1/me/password", { current_password: person.password, new_password: next })).status).toBe(204)
    expect((await phone.api("GET", "/api/v1/me")).status).toBe(401)
    await closed(socket)
    expect((await phone.connect()).error?.data?.code).toBe("UNAUTHENTICATED")
    expect(await (await browser()).signIn(person.email, person.password)).not.toBeNull()
    await browser({ email: person.email, password: next })
    expect((await person.api("GET", "/api/v1/me")).status).toBe(401)
    // The browser that changed it stays signed in, and tokens stay where the user unticks that.
    expect((await laptop.api("GET", "/api/v1/me")).status).toBe(200)
    const token = plant(await rewake.issueToken(person.email))
    const unticked = { current_password: next, new_password: plant("planted-third-password"), revoke_tokens: false }
    expect((await laptop.api("POST", "/api/v1/me/password", unticked)).status).toBe(204)
    expect((await rewake.as(token)("GET", "/api/v1/me")).status).toBe(200)
  })

  test("an invitation is accepted once, also by two at once, and only for a new address", async () => {
    const { body } = await adminApi<{ link: string }>("POST", "/api/v1/admin/invitations", { email: "once@example.org" })
    const code = plant(new URL(body.link).searchParams.get("code") ?? "")
    const accept = () =>
      rewake.as("")("POST", "/api/v1/invitations/accept", { code, name: "Once", password: plant("planted-once-password") })
    const answers = await Promise.all([accept(), accept(), accept()])
    expect(answers.map((answer) => answer.status).sort()).toEqual([201, 404, 404])
    expect(await accept()).toMatchObject({ status: 404, body: { code: "NOT_FOUND" } })
    expect(await adminApi("POST", "/api/v1/admin/invitations", { email: "once@example.org" })).toMatchObject({
      status: 409,
      body: { code: "CONFLICT" },
    })
    expect(
      await rewake.as("")("POST", "/api/v1/invitations/accept", { code: "inv_wrong", password: "planted-once-password" }),
    ).toMatchObject({
      status: 404,
    })
  })

  test("what is for admins is refused to others, and nobody changes their own role", async () => {
    const person = await invited()
    for (const call of [
      person.api("GET", "/api/v1/admin/users"),
      person.api("POST", "/api/v1/admin/invitations", { email: "x@example.org" }),
      person.api("POST", "/api/v1/admin/archives/run", {}),
      person.api("PATCH", "/api/v1/admin/users", { id: person.me.id, role: "admin" }),
    ]) {
      expect(await call).toMatchObject({ status: 403, body: { code: "FORBIDDEN" } })
    }
    const self = (await adminApi<Me>("GET", "/api/v1/me")).body
    expect(await adminApi("PATCH", "/api/v1/admin/users", { id: self.id, disabled: true })).toMatchObject({ status: 403 })
    expect((await adminApi("PATCH", "/api/v1/admin/users", { id: person.me.id, role: "admin" })).status).toBe(204)
    expect((await person.api("GET", "/api/v1/admin/users")).status).toBe(200)
    expect((await adminApi("PATCH", "/api/v1/admin/users", { id: person.me.id, role: "user" })).status).toBe(204)
    // Tokens do not outlive the role they were made in.
    expect((await person.api("GET", "/api/v1/admin/users")).status).toBe(401)
    expect((await rewake.as(plant(await rewake.issueToken(person.email)))("GET", "/api/v1/admin/users")).status).toBe(403)
  })

  test("a disabled person is shut out at once, by cookie, token, socket and sign-in, and comes back when enabled", async () => {
    const person = await invited()
    const chrome = await browser(person)
    const { socket } = await chrome.connect()
    const disable = (disabled: boolean) => adminApi("PATCH", "/api/v1/admin/users", { id: person.me.id, disabled })
    expect((await disable(true)).status).toBe(204)
    await closed(socket)
    expect((await chrome.api("GET", "/api/v1/me")).status).toBe(401)
    expect((await person.api("GET", "/api/v1/me")).status).toBe(401)
    expect((await chrome.connect()).error?.data?.code).toBe("UNAUTHENTICATED")
    expect(await (await browser()).signIn(person.email, person.password)).not.toBeNull()
    await disable(false)
    await browser(person)
    expect((await chrome.api("GET", "/api/v1/me")).status).toBe(401)
    expect((await person.api("GET", "/api/v1/me")).status).toBe(401)
  })

  test("signing out closes the sockets of that browser and of no other", async () => {
    const [laptop, phone] = [await browser(admin), await browser(admin)]
    const [gone, kept] = [await laptop.connect(), await phone.connect()]
    const cookie = laptop.cookieHeader()
    await laptop.signOut()
    await closed(gone.socket)
    // A copy of the cookie is worth nothing either.
    const copy = await fetch(`${rewake.url}/api/v1/tokens`, {
      method: "POST",
      headers: { cookie, origin: rewake.url },
      body: `{"name":"x"}`,
    })
    expect(copy.status).toBe(401)
    expect(laptop.cookies.has("next-auth.session-token")).toBe(false)
    expect((await laptop.api("GET", "/api/v1/me")).status).toBe(401)
    expect(kept.socket.connected).toBe(true)
    expect((await phone.api("GET", "/api/v1/me")).status).toBe(200)
  })

  test("a revoked token opens nothing any more, and its sockets are closed", async () => {
    const person = await invited()
    const made = (await person.api<{ id: string; token: string }>("POST", "/api/v1/tokens", { name: "script" })).body
    const api = rewake.as(plant(made.token))
    const socket = rewake.socket(made.token)
    await waitUntil(() => socket.connected, "the socket")
    const { items } = (await person.api<{ items: { id: string; name: string }[] }>("GET", "/api/v1/tokens")).body
    expect(JSON.stringify(items)).not.toContain(made.token)
    expect((await person.api("DELETE", `/api/v1/tokens?id=${made.id}`)).status).toBe(204)
    expect((await api("GET", "/api/v1/me")).status).toBe(401)
    await closed(socket)
    // Another's token cannot be revoked, nor is its existence told.
    const other = (await adminApi<{ id: string; token: string }>("POST", "/api/v1/tokens", { name: "admin's" })).body
    plant(other.token)
    expect((await person.api("DELETE", `/api/v1/tokens?id=${other.id}`)).status).toBe(404)
  })

  test("another's task does not exist: 404 on every route and over the socket, for an admin too", async () => {
    const { task, session } = await rewake.createTask("ask Which way?")
    await rewake.waitForEvent(session.id, (event) => event.kind === "run.waiting", "the question")
    const [wait] = (await rewake.session(session.id)).waits
    plant(wait?.secret ?? "")
    const queued = (await rewake.events(session.id)).find((event) => event.kind === "prompt.queued")
    const before = (await rewake.session(session.id)).last_seq
    for (const person of [await invited("user"), await invited("admin")]) {
      const of = `/api/v1/sessions/${session.id}`
      for (const [method, path, body] of [
        ["GET", `/api/v1/tasks/${task.id}`],
        ["PATCH", `/api/v1/tasks/${task.id}`, { title: "mine" }],
        ["DELETE", `/api/v1/tasks/${task.id}`],
        ["POST", `/api/v1/tasks/${task.id}/append`, { message: "x" }],
        ["POST", `/api/v1/tasks/${task.id}/sessions`, {}],
        ["GET", of],
        ["GET", `${of}/status`],
        ["GET", `${of}/events`],
        ["GET", `${of}/queue`],
        ["PATCH", `${of}/queue/${queued?.prompt_id}`, { message: "x" }],
        ["DELETE", `${of}/queue/${queued?.prompt_id}`],
        ["POST", `${of}/waits/${wait?.token_id}`, { secret: wait?.secret, outcome: { kind: "cancelled" } }],
        ["POST", `${of}/resume`, {}],
        ["POST", `${of}/cancel`, {}],
        ["POST", `${of}/stop`, {}],
      ] as const) {
        expect([method, path, await person.api(method, path, body).then(({ status, body: answer }) => [status, answer.code])]).toEqual([
          method,
          path,
          [404, "NOT_FOUND"],
        ])
      }
      expect((await person.api<{ items: TaskView[] }>("GET", "/api/v1/tasks")).body.items).toEqual([])
      const socket = rewake.socket(person.token)
      for (const [name, request] of [
        ["session.subscribe", { session_id: session.id, after_seq: 0 }],
        ["task.session.status", { session_id: session.id }],
        ["task.session.resume", { session_id: session.id }],
      ] as const) {
        expect(await socket.emitWithAck(name, request)).toMatchObject({ error: { code: "NOT_FOUND" } })
      }
    }
    expect((await rewake.session(session.id)).last_seq).toBe(before)
    await rewake.api("POST", `/api/v1/sessions/${session.id}/cancel`, {})
    await rewake.waitForRuns(session.id, 1)
  })

  test("once there are several people, only admins run agents on the host itself, and the refusal says why", async () => {
    const [person, second] = [await invited("user"), await invited("admin")]
    const refusal = await person.api("POST", "/api/v1/tasks", { message: "hello" })
    expect(refusal).toMatchObject({ status: 403, body: { code: "FORBIDDEN" } })
    expect(refusal.body.message).toMatch(/admin/)
    const made = await second.api<{ session: SessionView }>("POST", "/api/v1/tasks", { message: "hello" })
    expect(made.status).toBe(201)
    await waitUntil(
      async () => (await second.api<SessionView>("GET", `/api/v1/sessions/${made.body.session.id}`)).body.state === "WAITING_FOR_INPUT",
      "the turn",
    )
  })

  test("the command line prints a token and nothing else, and refuses people who are not there", async () => {
    type Run = { status: number; stdout: string; stderr: string }
    const run = (...args: string[]) =>
      new Promise<Run>((resolve) =>
        execFile(process.execPath, ["dist/cli.mjs", ...args], { env: rewake.environment() }, (error, stdout, stderr) =>
          resolve({ status: error ? Number(error.code) : 0, stdout, stderr }),
        ),
      )
    const token = await run("token", "--user", admin.email.toUpperCase())
    expect(token.stdout).toMatch(/^rwk_[\w-]{43}\n$/)
    expect(token).toMatchObject({ status: 0, stderr: "" })
    plant(token.stdout.trim())
    const refused = await run("token", "--user", "nobody@example.org")
    expect(refused).toMatchObject({ status: 1, stdout: "" })
    expect(refused.stderr).toContain("nobody@example.org")
    const invitation = await run("invite", "--email", "cli@example.org")
    expect(invitation.stdout).toMatch(new RegExp(`^${rewake.url}/invite\\?code=inv_[\\w-]{43}\\n$`))
    plant(new URL(invitation.stdout.trim()).searchParams.get("code") ?? "")
  })

  test("every answer carries the headers that keep other sites and scripts out", async () => {
    for (const path of ["/", "/login", "/api/health", "/api/v1/me", "/api/v1/no-such-route"]) {
      const { headers } = await fetch(`${rewake.url}${path}`, { redirect: "manual" })
      const policy = headers.get("content-security-policy") ?? ""
      expect([path, policy]).toEqual([path, expect.stringMatching(/default-src '(self|none)'.*frame-ancestors 'none'/)])
      expect(policy).not.toMatch(/script-src[^;]*'unsafe-(inline|eval)'/)
      expect(headers.get("x-content-type-options")).toBe("nosniff")
      expect(headers.get("x-frame-options")).toBe("DENY")
      expect(headers.get("referrer-policy")).toBe("same-origin")
    }
    const nonces = await Promise.all([1, 2].map(async () => (await fetch(`${rewake.url}/login`)).headers.get("content-security-policy")))
    expect(nonces[0]).not.toBe(nonces[1])
  })

  test("no password, token, cookie or secret of all these ever reached an output or a log", () => {
    const logs = join(rewake.dataDir, "logs")
    const written = readdirSync(logs, { recursive: true, encoding: "utf8" }).map((name) => readFileSync(join(logs, name), "utf8"))
    const withoutTheLink = rewake.output.replace(`/setup?code=${setupCode}`, "")
    const { secret } = rewake.daemon()
    expect(planted.length).toBeGreaterThan(20)
    for (const text of [withoutTheLink, ...written]) {
      for (const hidden of [...planted, setupCode, secret]) {
        expect(hidden.length).toBeGreaterThan(7)
        expect(text.includes(hidden), `${hidden} was written`).toBe(false)
      }
    }
  })
})

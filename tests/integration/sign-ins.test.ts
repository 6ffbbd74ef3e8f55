import { describe, expect, test } from "vitest"
import type { ApiToken, SignInView, UserView } from "../../lib/contracts/people"
import type { Me } from "../../lib/contracts/task"
import { Browser } from "../support/browser"
import { ADMIN, DATABASES, Rewake } from "../support/server"
import { runSql } from "../support/sql"
import { useServer } from "../support/use-server"
import { changeUser, createUser } from "../support/users"
import { waitUntil } from "../support/wait-until"

const longAgo = new Date(0).toISOString()

describe("guesses", () => {
  const rewake = useServer({ env: { TRUSTED_PROXIES: "127.0.0.0/8" }, durations: { signInSlowdownMs: 10 } })
  const RIGHT = null
  const from = (address: string) => new Browser(rewake, address)

  test("ten wrong passwords shut out the address they came from, and nobody else", async () => {
    const user = await createUser(rewake)
    const known = from("192.0.2.1")
    expect(await known.signIn(user.email, user.password)).toBe(RIGHT)
    const guesser = from("192.0.2.9")
    for (let i = 0; i < 10; i++) expect(await guesser.signIn(user.email, `guess number ${i}`)).toBe("CredentialsSignin")
    expect(await guesser.signIn(user.email, "guess number 11")).toBe("RATE_LIMITED")
    expect(await guesser.signIn(user.email, user.password)).toBe("RATE_LIMITED")
    expect(await from("192.0.2.2").signIn(user.email, user.password)).toBe(RIGHT)
  })

  test("a known device gets in with the right password, also from the address that was shut out", async () => {
    const user = await createUser(rewake)
    const laptop = from("192.0.2.20")
    expect(await laptop.signIn(user.email, user.password)).toBe(RIGHT)
    const guesser = from("192.0.2.20")
    for (let i = 0; i < 11; i++) await guesser.signIn(user.email, `guess number ${i}`)
    expect(await from("192.0.2.20").signIn(user.email, user.password)).toBe("RATE_LIMITED")
    await laptop.signOut()
    // Its own wrong passwords only slow it down.
    for (let i = 0; i < 15; i++) expect(await laptop.signIn(user.email, `mistyped ${i}`)).toBe("CredentialsSignin")
    expect(await laptop.signIn(user.email, user.password)).toBe(RIGHT)
    // The device is known for its own account, not for others.
    const other = await createUser(rewake)
    for (let i = 0; i < 10; i++) await laptop.signIn(other.email, `guess number ${i}`)
    expect(await laptop.signIn(other.email, other.password)).toBe("RATE_LIMITED")
  })

  test("one address may not try many accounts: the fifty-first wrong password is refused", async () => {
    const sprayer = from("2001:db8:1:2::1")
    for (let i = 0; i < 50; i++) expect(await sprayer.signIn(`nobody${i}@example.org`, "password of all")).toBe("CredentialsSignin")
    // The next address of the same subscriber is the same network.
    expect(await from("2001:db8:1:2::ffff").signIn("nobody99@example.org", "password of all")).toBe("RATE_LIMITED")
    expect(await from("2001:db8:1:3::1").signIn(ADMIN.email, ADMIN.password)).toBe(RIGHT)
  })

  test("codes of links cannot be guessed: the thirty-first try of an address is refused, and says how long to wait", async () => {
    const guess = (i: number, address = "198.51.100.1") =>
      rewake.as("")("POST", "/api/v1/invitations/connect", { code: `inv_${i}` }, { "x-forwarded-for": address })
    for (let i = 0; i < 30; i++) expect((await guess(i)).status).toBe(404)
    const refused = await guess(31)
    expect(refused).toMatchObject({ status: 429, body: { code: "RATE_LIMITED" } })
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0)
    expect((await guess(32, "198.51.100.2")).status).toBe(404)
  })

  test("signing in often is no guessing", async () => {
    const browser = from("192.0.2.50")
    for (let i = 0; i < 15; i++) expect(await browser.signIn(ADMIN.email, ADMIN.password)).toBe(RIGHT)
  })
})

test("wrong set-up codes keep the owner out neither by their number nor by their letters", async () => {
  const rewake = await Rewake.start({ empty: true, env: { ADMIN_EMAIL: "", ADMIN_PASSWORD: "" } })
  try {
    const link = await waitUntil(() => rewake.output.split("\n").find((line) => line.includes("/setup?code=")), "the link")
    const code = new URL(link).searchParams.get("code")
    const setUp = (given: unknown) =>
      rewake.as("")("POST", "/api/v1/setup", { code: given, email: "owner@example.org", password: "the owner's password" })
    expect(await setUp("sétup_ünknown_💥")).toMatchObject({ status: 403, body: { code: "FORBIDDEN" } })
    const wrong = await Promise.all(Array.from({ length: 40 }, (_, i) => setUp(`setup_${i}`)))
    expect(new Set(wrong.map(({ status }) => status))).toEqual(new Set([403, 429]))
    expect((await setUp(code)).status).toBe(201)
  } finally {
    await rewake.stop()
  }
})

describe.each(DATABASES)("sign-ins and tokens, on %s", (database) => {
  const rewake = useServer({ database })
  const signedIn = async (who: { email: string; password: string }) => {
    const browser = new Browser(rewake)
    expect(await browser.signIn(who.email, who.password)).toBeNull()
    return browser
  }
  const signInsOf = async (browser: Browser) => (await browser.api<{ items: SignInView[] }>("GET", "/api/v1/me/sign-ins")).body.items

  test("a user sees the browsers that are signed in, and signs out one, or all others", async () => {
    const user = await createUser(rewake)
    const [laptop, phone, tablet] = [await signedIn(user), await signedIn(user), await signedIn(user)]
    const listed = await signInsOf(laptop)
    expect(listed).toHaveLength(3)
    expect(listed.filter(({ current }) => current)).toHaveLength(1)
    expect(listed[0]).toMatchObject({ method: "password", address: "127.0.0.1" })
    const ofPhone = (await signInsOf(phone)).find(({ current }) => current)
    expect((await laptop.api("DELETE", `/api/v1/me/sign-ins?id=${ofPhone?.id}`)).status).toBe(204)
    expect((await phone.api("GET", "/api/v1/me")).status).toBe(401)
    expect((await laptop.api("DELETE", `/api/v1/me/sign-ins?id=${ofPhone?.id}`)).status).toBe(404)
    expect((await laptop.api("DELETE", "/api/v1/me/sign-ins")).status).toBe(204)
    expect((await tablet.api("GET", "/api/v1/me")).status).toBe(401)
    expect(await signInsOf(laptop)).toHaveLength(1)
    // Another's sign-in is not there at all.
    const stranger = await signedIn(await createUser(rewake))
    const [own] = await signInsOf(laptop)
    expect((await stranger.api("DELETE", `/api/v1/me/sign-ins?id=${own?.id}`)).status).toBe(404)
  })

  test("a sign-in ends when it was not used for two weeks, and when the same browser signs in anew", async () => {
    const user = await createUser(rewake)
    const browser = await signedIn(user)
    const copy = browser.cookieHeader()
    const [first] = await signInsOf(browser)
    expect(await browser.signIn(user.email, user.password)).toBeNull()
    expect((await signInsOf(browser)).map(({ id }) => id)).not.toContain(first?.id)
    const withCopy = await fetch(`${rewake.url}/api/v1/me`, { headers: { cookie: copy, "sec-fetch-site": "same-origin" } })
    expect(withCopy.status).toBe(401)
    const twoWeeksAgo = new Date(Date.now() - 14.1 * 86_400_000).toISOString()
    await runSql(rewake.sqlPlace(), "UPDATE sign_ins SET last_seen_at = ? WHERE user_id = ?", [twoWeeksAgo, user.id])
    expect((await browser.api("GET", "/api/v1/me")).status).toBe(401)
  })

  test("a sign-in ends at its time, however often its cookie was renewed", async () => {
    const browser = await signedIn(await createUser(rewake))
    const [before] = await signInsOf(browser)
    const first = browser.cookies.get("next-auth.session-token")
    await browser.fetch("GET", "/api/auth/session")
    expect(browser.cookies.get("next-auth.session-token")).not.toBe(first)
    expect((await signInsOf(browser))[0]?.expires_at).toBe(before?.expires_at)
    await runSql(rewake.sqlPlace(), "UPDATE sign_ins SET expires_at = ? WHERE id = ?", [longAgo, before?.id ?? ""])
    await browser.fetch("GET", "/api/auth/session")
    expect((await browser.api("GET", "/api/v1/me")).status).toBe(401)
  })

  test("a token does what its scopes say until it expires, and makes none that may do more or live longer", async () => {
    const make = async (api: typeof rewake.api, body: object) => {
      const answer = await api<ApiToken & { token: string }>("POST", "/api/v1/tokens", { name: "script", ...body })
      expect(answer.status).toBe(201)
      return { ...answer.body, api: rewake.as(answer.body.token) }
    }
    const [read, write, admin] = [
      await make(rewake.api, { scopes: ["read"] }),
      await make(rewake.api, { scopes: ["write"], days: 2 }),
      await make(rewake.api, { scopes: ["admin"] }),
    ]
    const refused = { status: 403, body: { code: "FORBIDDEN" } }
    expect((await read.api("GET", "/api/v1/tasks")).status).toBe(200)
    expect(await read.api("POST", "/api/v1/tasks", { message: "hello" })).toMatchObject(refused)
    expect(await read.api("GET", "/api/v1/admin/users")).toMatchObject(refused)
    expect(await write.api("GET", "/api/v1/tasks")).toMatchObject(refused)
    expect((await write.api("PUT", "/api/v1/me/git-credentials", { host: "git.example.org", username: "x", secret: "y" })).status).toBe(204)
    expect((await admin.api("GET", "/api/v1/admin/users")).status).toBe(200)
    expect(await admin.api("GET", "/api/v1/tasks")).toMatchObject(refused)
    expect(await write.api("POST", "/api/v1/tokens", { name: "more", scopes: ["admin"] })).toMatchObject(refused)
    const child = await make(write.api, { days: 300 })
    expect(child).toMatchObject({ scopes: ["write"], expires_at: write.expires_at })

    const socket = rewake.socket(read.token)
    const resume = await socket.emitWithAck("task.session.resume", { session_id: "sess_x" })
    expect(resume).toMatchObject({ error: { code: "FORBIDDEN" } })
    expect(await socket.emitWithAck("task.session.status", { session_id: "sess_x" })).toMatchObject({ error: { code: "NOT_FOUND" } })

    const { items } = (await rewake.api<{ items: ApiToken[] }>("GET", "/api/v1/tokens")).body
    expect(items.find(({ id }) => id === read.id)).toMatchObject({ scopes: ["read"], last_used_at: expect.any(String) })
    await runSql(rewake.sqlPlace(), "UPDATE api_tokens SET expires_at = ? WHERE id = ?", [longAgo, read.id])
    expect((await read.api("GET", "/api/v1/tasks")).status).toBe(401)
    const user = await createUser(rewake)
    expect(await user.api("POST", "/api/v1/tokens", { name: "admin's", scopes: ["admin"] })).toMatchObject(refused)
  })

  test("the command line's token has the role's scopes for 90 days, or what is asked for", async () => {
    const tokenOf = async (token: string) => {
      const { items } = (await rewake.as(token)<{ items: ApiToken[] }>("GET", "/api/v1/tokens")).body
      return items.find(({ name }) => name === "command line")
    }
    const days = (token: ApiToken | undefined) =>
      Math.round((Date.parse(token?.expires_at ?? "") - Date.parse(token?.created_at ?? "")) / 86_400_000)
    const whole = await tokenOf(rewake.cli("token", "--user", ADMIN.email))
    expect([whole?.scopes, days(whole)]).toEqual([["read", "write", "admin"], 90])
    const user = await createUser(rewake)
    const small = await tokenOf(rewake.cli("token", "--user", user.email, "--days", "3", "--scope", "read"))
    expect([small?.scopes, days(small)]).toEqual([["read"], 3])
  })

  test("a reset link sets a password once, and ends every sign-in and token of that user", async () => {
    const user = await createUser(rewake)
    const browser = await signedIn(user)
    const reset = async () =>
      new URL((await rewake.api<{ link: string }>("POST", `/api/v1/admin/users/${user.id}/password-reset`)).body.link)
    const [older, newer] = [await reset(), await reset()]
    const use = (link: URL, password: string) =>
      rewake.as("")("POST", "/api/v1/password-reset", { code: link.searchParams.get("code"), password })
    expect(newer.pathname).toBe("/reset")
    expect((await use(older, "a password never set")).status).toBe(404)
    expect(await use(newer, "the password after it")).toMatchObject({ status: 201, body: { email: user.email } })
    expect((await use(newer, "a password never set")).status).toBe(404)
    expect((await browser.api("GET", "/api/v1/me")).status).toBe(401)
    expect((await user.api("GET", "/api/v1/me")).status).toBe(401)
    expect(await new Browser(rewake).signIn(user.email, user.password)).not.toBeNull()
    await signedIn({ ...user, password: "the password after it" })
  })

  test("a disabled or demoted admin's invitations and reset links open nothing, and open ones are listed and revoked", async () => {
    const second = await createUser(rewake, "admin")
    const invite = async (api: typeof rewake.api, email: string) =>
      new URL((await api<{ link: string }>("POST", "/api/v1/admin/invitations", { email, role: "admin" })).body.link).searchParams.get(
        "code",
      )
    const accept = (code: string | null) => rewake.as("")("POST", "/api/v1/invitations/accept", { code, password: "password of a guest" })
    const theirs = await invite(second.api, "guest-of-second@example.org")
    const victim = await createUser(rewake)
    const reset = await second.api<{ link: string }>("POST", `/api/v1/admin/users/${victim.id}/password-reset`)
    expect((await changeUser(rewake, second.id, { role: "user" })).status).toBe(204)
    expect((await accept(theirs)).status).toBe(404)
    const code = new URL(reset.body.link).searchParams.get("code")
    expect((await rewake.as("")("POST", "/api/v1/password-reset", { code, password: "password of a guest" })).status).toBe(404)

    const mine = await invite(rewake.api, "guest-of-first@example.org")
    const open = async () => (await rewake.api<{ items: { id: string; email: string }[] }>("GET", "/api/v1/admin/invitations")).body.items
    const listed = (await open()).find(({ email }) => email === "guest-of-first@example.org")
    expect(listed).toMatchObject({ role: "admin", created_by: ADMIN.email })
    expect((await rewake.api("DELETE", `/api/v1/admin/invitations?id=${listed?.id}`)).status).toBe(204)
    expect((await accept(mine)).status).toBe(404)
    expect((await open()).map(({ email }) => email)).not.toContain("guest-of-first@example.org")
  })

  test("the last admin stays one: two admins who demote each other at once leave one", async () => {
    const servers = database === "postgresql" ? [rewake, await rewake.secondServer()] : [rewake, rewake]
    try {
      const admins = async () =>
        (await rewake.api<{ items: UserView[] }>("GET", "/api/v1/admin/users")).body.items.filter(
          (user) => user.role === "admin" && user.disabled_at === null,
        )
      const me = (await rewake.api<Me>("GET", "/api/v1/me")).body
      for (const change of [{ role: "user" }, { disabled: true }] as const) {
        const other = await createUser(rewake, "admin")
        const others = (await admins()).filter(({ id }) => id !== me.id && id !== other.id)
        for (const { id } of others) await changeUser(rewake, id, { role: "user" })
        const [a, b] = servers as [Rewake, Rewake]
        const answers = await Promise.all([
          a.as(rewake.token)("PATCH", "/api/v1/admin/users", { id: other.id, ...change }),
          b.as(other.token)("PATCH", "/api/v1/admin/users", { id: me.id, ...change }),
        ])
        expect(answers.filter(({ status }) => status === 204)).toHaveLength(1)
        await runSql(rewake.sqlPlace(), "UPDATE users SET role = 'admin', disabled_at = NULL WHERE id = ?", [me.id])
        await runSql(rewake.sqlPlace(), "UPDATE api_tokens SET revoked_at = NULL WHERE user_id = ?", [me.id])
        for (const { id } of await admins()) if (id !== me.id) await changeUser(rewake, id, { role: "user" })
        expect((await admins()).map(({ id }) => id)).toEqual([me.id])
      }
    } finally {
      if (servers[1] !== rewake) await servers[1]?.kill9()
    }
  })
})

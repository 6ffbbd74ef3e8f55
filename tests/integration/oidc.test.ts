import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { IdentityView, SignInView, UserView } from "../../lib/contracts/people"
import type { Me } from "../../lib/contracts/task"
import { Browser } from "../support/browser"
import { freePort } from "../support/free-port"
import { type Account, CLIENT, startProvider } from "../support/oidc"
import { DATABASES, Rewake } from "../support/server"
import { changeUser, createUser } from "../support/users"

describe.each(DATABASES)("signing in at an OpenID Connect provider, on %s", (database) => {
  let rewake: Rewake
  let provider: Awaited<ReturnType<typeof startProvider>>
  beforeAll(async () => {
    const port = await freePort()
    provider = await startProvider(`http://127.0.0.1:${port}`)
    const env = { PORT: String(port), OIDC_ISSUER: provider.issuer, OIDC_CLIENT_ID: CLIENT.id, OIDC_CLIENT_SECRET: CLIENT.secret }
    rewake = await Rewake.start({ database, env: { ...env, OIDC_DOMAINS: "team.example" } })
  })
  afterAll(async () => {
    await rewake?.stop()
    await provider?.stop()
  })

  const REFUSED = (reason: string) => `/login?error=${reason}`
  const IN = "/tasks"
  let made = 0
  const account = (given: Partial<Account> = {}): Account => {
    const sub = `account-${++made}`
    const full = { sub, email: `${sub}@elsewhere.example`, email_verified: true, name: "Somebody", ...given }
    provider.setAccount(full)
    return full
  }
  const users = async () => (await rewake.api<{ items: UserView[] }>("GET", "/api/v1/admin/users")).body.items
  const invite = async (email: string, role = "user") =>
    new URL((await rewake.api<{ link: string }>("POST", "/api/v1/admin/invitations", { email, role })).body.link).searchParams.get("code")
  const me = async (browser: Browser) => (await browser.api<Me>("GET", "/api/v1/me")).body
  const signIn = async (who: Account, browser = new Browser(rewake)) => ({ browser, to: await provider.signIn(browser, who.sub) })

  test("the page is told of the provider; nobody joins without an invitation", async () => {
    const methods = await rewake.as("")("GET", "/api/v1/sign-in-methods")
    expect(methods.body).toEqual({ oidc: { host: new URL(provider.issuer).host } })
    const before = (await users()).length
    const { to, browser } = await signIn(account())
    expect(to).toBe(REFUSED("NO_INVITATION"))
    expect((await browser.api("GET", "/api/v1/me")).status).toBe(401)
    expect(await users()).toHaveLength(before)
  })

  test("an invited, verified address joins with the invitation's role, and is the same account under another address later", async () => {
    const who = account()
    await invite(who.email ?? "", "admin")
    const first = await signIn(who)
    expect(first.to).toBe(IN)
    expect(await me(first.browser)).toMatchObject({ email: who.email, role: "admin", has_password: false })
    provider.setAccount({ ...who, email: "renamed@elsewhere.example" })
    const second = await signIn(who)
    expect(second.to).toBe(IN)
    expect((await me(second.browser)).id).toBe((await me(first.browser)).id)
    const { items } = (await second.browser.api<{ items: SignInView[] }>("GET", "/api/v1/me/sign-ins")).body
    expect(items.map(({ method }) => method)).toEqual(["oidc", "oidc"])
    await second.browser.signOut()
    expect((await second.browser.api("GET", "/api/v1/me")).status).toBe(401)
    expect((await first.browser.api("GET", "/api/v1/me")).status).toBe(200)
  })

  test("an account that exists is never joined because its address is alike; its owner connects it", async () => {
    const user = await createUser(rewake)
    const thief = account({ email: user.email })
    expect((await signIn(thief)).to).toBe(REFUSED("ACCOUNT_EXISTS"))
    const own = new Browser(rewake)
    expect(await own.signIn(user.email, user.password)).toBeNull()
    // A browser that was left open is no way to connect a stranger's account.
    expect((await own.api("POST", "/api/v1/me/identities", {})).status).toBe(403)
    expect((await own.api("POST", "/api/v1/me/identities", { current_password: "a guess" })).status).toBe(403)
    expect((await own.api("POST", "/api/v1/me/identities", { current_password: user.password })).status).toBe(204)
    const who = account({ email: "other-name@elsewhere.example" })
    expect((await signIn(who, own)).to).toBe(IN)
    expect(await me(own)).toMatchObject({ id: user.id })
    const { items } = (await own.api<{ items: IdentityView[] }>("GET", "/api/v1/me/identities")).body
    expect(items).toMatchObject([{ issuer: provider.issuer, email: "other-name@elsewhere.example" }])
    const later = await signIn(who)
    expect(await me(later.browser)).toMatchObject({ id: user.id })
    expect((await own.api("DELETE", `/api/v1/me/identities?id=${items[0]?.id}`)).status).toBe(204)
    expect((await signIn(who)).to).toBe(REFUSED("NO_INVITATION"))
  })

  test("connecting needs the browser that is signed in: without it nothing is connected", async () => {
    const user = await createUser(rewake)
    const own = new Browser(rewake)
    await own.signIn(user.email, user.password)
    await own.api("POST", "/api/v1/me/identities", { current_password: user.password })
    await own.signOut()
    expect((await signIn(account(), own)).to).toBe(REFUSED("NO_INVITATION"))
    // Nor does an account that is somebody's become another's.
    const taken = account({ email: "taken@team.example" })
    const holder = await signIn(taken)
    expect(holder.to).toBe(IN)
    const second = new Browser(rewake)
    await second.signIn(user.email, user.password)
    await second.api("POST", "/api/v1/me/identities", { current_password: user.password })
    expect((await signIn(taken, second)).to).toBe(REFUSED("ACCOUNT_EXISTS"))
  })

  test("an address the provider has not verified joins by the invitation's link only", async () => {
    const who = account({ email_verified: false })
    const code = await invite(who.email ?? "")
    expect((await signIn(who)).to).toBe(REFUSED("EMAIL_NOT_VERIFIED"))
    const browser = new Browser(rewake)
    expect((await browser.api("POST", "/api/v1/invitations/connect", { code: "inv_wrong" })).status).toBe(404)
    expect((await browser.api("POST", "/api/v1/invitations/connect", { code })).status).toBe(204)
    expect((await signIn(who, browser)).to).toBe(IN)
    expect(await me(browser)).toMatchObject({ email: who.email, role: "user" })
    expect((await browser.api("POST", "/api/v1/invitations/connect", { code })).status).toBe(404)
  })

  test("a verified address of a listed domain joins as a user; one that only looks like it does not", async () => {
    const joined = await signIn(account({ email: "ada@team.example" }))
    expect(joined.to).toBe(IN)
    expect(await me(joined.browser)).toMatchObject({ email: "ada@team.example", role: "user" })
    expect((await signIn(account({ email: "bob@team.example", email_verified: false }))).to).toBe(REFUSED("EMAIL_NOT_VERIFIED"))
    for (const email of ["eve@sub.team.example", "eve@team.example.evil.example", "eve@evilteam.example"])
      expect((await signIn(account({ email }))).to).toBe(REFUSED("NO_INVITATION"))
  })

  test("a disabled user is refused, and an answer with another state opens nothing", async () => {
    const who = account({ email: "disabled@team.example" })
    const { browser } = await signIn(who)
    await changeUser(rewake, (await me(browser)).id, { disabled: true })
    expect((await signIn(who)).to).toBe(REFUSED("DISABLED"))
    const forged = new Browser(rewake)
    const to = await provider.signIn(forged, account({ email: "forged@team.example" }).sub, (callback) =>
      callback.searchParams.set("state", "another"),
    )
    expect(to).toBe(REFUSED("PROVIDER"))
    expect((await forged.api("GET", "/api/v1/me")).status).toBe(401)
  })
})

test("metadata that names another issuer than the configured one signs nobody in", async () => {
  const port = await freePort()
  const provider = await startProvider(`http://127.0.0.1:${port}`)
  // The same provider under another name than its own.
  const OIDC_ISSUER = provider.issuer.replace("127.0.0.1", "localhost")
  const env = {
    PORT: String(port),
    OIDC_ISSUER,
    OIDC_CLIENT_ID: CLIENT.id,
    OIDC_CLIENT_SECRET: CLIENT.secret,
    OIDC_DOMAINS: "team.example",
  }
  const rewake = await Rewake.start({ env })
  try {
    provider.setAccount({ sub: "ada", email: "ada@team.example", email_verified: true })
    const browser = new Browser(rewake)
    expect(await provider.signIn(browser, "ada")).toBe("/login?error=PROVIDER")
    expect((await browser.api("GET", "/api/v1/me")).status).toBe(401)
  } finally {
    await rewake.stop()
    await provider.stop()
  }
})

import { describe, expect, test } from "vitest"
import type { AuditEvent, AuditPage } from "../../lib/contracts/audit"
import { Browser } from "../support/browser"
import { ADMIN, DATABASES } from "../support/server"
import { runSql } from "../support/sql"
import { useServer } from "../support/use-server"
import { allowUsers, changeUser, createUser } from "../support/users"

describe.each(DATABASES)("the security log, on %s", (database) => {
  const rewake = useServer({ database })
  const log = async (query = "") => (await rewake.api<AuditPage>("GET", `/api/v1/admin/audit?limit=200${query}`)).body.items
  const newest = async (action: string) => (await log(`&action=${action}`))[0] as AuditEvent

  test("it tells who signed in, from where, who failed, and who signed out", async () => {
    const user = await createUser(rewake)
    const browser = new Browser(rewake)
    await browser.signIn(user.email, "a wrong password")
    expect(await newest("sign_in.failed")).toMatchObject({
      user_id: user.id,
      user_email: user.email,
      outcome: "failed",
      address: "127.0.0.1",
    })
    await browser.signIn(user.email, user.password)
    const begun = await newest("sign_in.succeeded")
    expect(begun).toMatchObject({ user_id: user.id, outcome: "done", via: "browser", details: { method: "password" } })
    await browser.signOut()
    expect(await newest("sign_in.ended")).toMatchObject({ user_id: user.id, target: begun.target })
  })

  test("tokens, roles, invitations and settings are in it, with who did it and to whom", async () => {
    const user = await createUser(rewake)
    expect(await newest("user.created")).toMatchObject({ user_email: ADMIN.email, target: user.id, via: "token" })
    const { id } = (await rewake.api<{ id: string }>("POST", "/api/v1/tokens", { name: "script" })).body
    expect(await newest("token.created")).toMatchObject({ target: id, details: { name: "script", scopes: "read write admin" } })
    await rewake.api("DELETE", `/api/v1/tokens?id=${id}`)
    expect(await newest("token.revoked")).toMatchObject({ target: id })
    await changeUser(rewake, user.id, { role: "admin" })
    expect(await newest("user.role_changed")).toMatchObject({ target: user.id, details: { from: "user", to: "admin" } })
    await changeUser(rewake, user.id, { disabled: true })
    expect(await newest("user.disabled")).toMatchObject({ target: user.id })
    await allowUsers(rewake, true)
    expect(await newest("settings.changed")).toMatchObject({ details: { standalone_for_users: true } })
    await rewake.api("POST", "/api/v1/admin/invitations", { email: "guest@example.org" })
    expect(await newest("invitation.created")).toMatchObject({ details: { email: "guest@example.org" } })
    rewake.cli("token", "--user", ADMIN.email)
    expect(await newest("token.created")).toMatchObject({ via: "command_line", address: null })
  })

  test("exports, an admin's access to another's session, and refusals are in it", async () => {
    const other = await createUser(rewake, "admin")
    const { session } = await rewake.createTask("remember pear")
    await rewake.waitForRuns(session.id, 1)
    await fetch(`${rewake.url}/api/v1/sessions/${session.id}/export`, { headers: { authorization: `Bearer ${other.token}` } }).then(
      (answer) => answer.arrayBuffer(),
    )
    expect(await newest("session.exported")).toMatchObject({ user_id: other.id, target: session.id, details: { of_another_user: true } })
    const { token } = (await other.api<{ token: string }>("POST", "/api/v1/tokens", { name: "reader", scopes: ["read"] })).body
    expect((await rewake.as(token)("GET", `/api/v1/sessions/${session.id}/export`)).status).toBe(404)
    await other.api("POST", "/api/v1/admin/sessions", { session_id: session.id, action: "stop" })
    expect(await newest("session.acted_on_by_admin")).toMatchObject({ user_id: other.id, target: session.id, details: { action: "stop" } })
    const user = await createUser(rewake)
    await user.api("GET", "/api/v1/admin/users")
    expect(await newest("access.denied")).toMatchObject({ user_id: user.id, outcome: "denied" })
    // A refusal in a loop does not fill the disk.
    for (let i = 0; i < 50; i++) await user.api("GET", "/api/v1/admin/users")
    expect((await log(`&user=${user.email}&action=access.denied`)).length).toBeLessThanOrEqual(30)
  })

  test("it is filtered, paged and exported, and for admins only", async () => {
    const all = await log()
    const pages: AuditEvent[] = []
    let cursor: string | null = null
    do {
      const query: string = cursor ? `&cursor=${cursor}` : ""
      const page: AuditPage = (await rewake.api<AuditPage>("GET", `/api/v1/admin/audit?limit=7${query}`)).body
      pages.push(...page.items)
      cursor = page.next_cursor
    } while (cursor && pages.length < all.length)
    expect(pages.map(({ id }) => id)).toEqual(all.map(({ id }) => id))
    expect(new Set((await log("&outcome=denied")).map(({ outcome }) => outcome))).toEqual(new Set(["denied"]))
    const middle = all[Math.floor(all.length / 2)] as AuditEvent
    expect((await log(`&since=${middle.at}`)).every(({ at }) => at >= middle.at)).toBe(true)
    expect(await rewake.api("GET", "/api/v1/admin/audit?action=nonsense")).toMatchObject({ status: 400 })

    const exported = await fetch(`${rewake.url}/api/v1/admin/audit/export`, { headers: { authorization: `Bearer ${rewake.token}` } })
    expect(exported.headers.get("content-disposition")).toContain("attachment")
    expect(exported.headers.get("cache-control")).toBe("no-store")
    const lines = (await exported.text()).trimEnd().split("\n")
    expect(lines.map((line) => (JSON.parse(line) as AuditEvent).id)).toEqual(all.map(({ id }) => id).reverse())
    expect((await (await createUser(rewake)).api("GET", "/api/v1/admin/audit")).status).toBe(403)
  })

  test("the database itself refuses to change or remove an entry", async () => {
    await expect(runSql(rewake.sqlPlace(), "UPDATE audit_events SET user_email = 'somebody else'")).rejects.toThrow(/append-only/)
    await expect(runSql(rewake.sqlPlace(), "DELETE FROM audit_events")).rejects.toThrow(/append-only/)
    if (database === "postgresql") await expect(runSql(rewake.sqlPlace(), "TRUNCATE audit_events")).rejects.toThrow(/append-only/)
  })

  test("no secret is in it", async () => {
    const user = await createUser(rewake)
    const { token } = (await user.api<{ token: string }>("POST", "/api/v1/tokens", { name: "script" })).body
    const { link } = (await rewake.api<{ link: string }>("POST", `/api/v1/admin/users/${user.id}/password-reset`)).body
    await user.api("POST", "/api/v1/me/password", { current_password: user.password, new_password: "planted-new-password" })
    await rewake.api("POST", "/api/v1/admin/agents", { id: "planted", name: "Planted", acp: { command: "true", args: [] } })
    await rewake.api("PUT", "/api/v1/admin/agents/planted/variables", { name: "API_KEY", value: "planted-key-value" })
    expect(await newest("agent.variable_changed")).toMatchObject({ target: "planted", details: { name: "API_KEY" } })
    await new Browser(rewake).signIn("planted-password-typed-as-address", "x")
    const text = JSON.stringify(await log())
    const code = new URL(link).searchParams.get("code") ?? "none"
    for (const secret of [token, code, user.password, "planted-new-password", "planted-key-value", "planted-password-typed"])
      expect(text).not.toContain(secret)
  })
})

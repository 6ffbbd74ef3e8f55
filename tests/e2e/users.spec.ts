import { type Browser, expect, type Page, test } from "@playwright/test"
import type { Rewake } from "../support/server"
import { expectNoDialog, joinByInvitation, openPage, signIn } from "./pages"
import { useSharedServer } from "./use-server"

let rewake: Rewake
useSharedServer((started) => {
  rewake = started
})

/** The password that `joinByInvitation` chooses. */
const PASSWORD = "another long password"
let users = 0

/** A new user's page. Each test has a user of its own; whoever asks for one closes its context. */
async function newUser(browser: Browser): Promise<{ email: string; page: Page }> {
  const email = `user${++users}@example.org`
  const invitation = await rewake.api<{ link: string }>("POST", "/api/v1/admin/invitations", { email })
  return { email, page: await joinByInvitation(browser, invitation.body.link) }
}

const openUsers = (page: Page) => openPage(page, `${rewake.url}/admin/users`)
const openSettings = (page: Page) => openPage(page, `${rewake.url}/settings`)
const userRow = (page: Page, email: string) => page.getByRole("list", { name: "Users" }).getByRole("listitem").filter({ hasText: email })

async function chooseAction(page: Page, email: string, action: string): Promise<void> {
  await page.getByRole("button", { name: `Actions for ${email}` }).click()
  await page.getByRole("menuitem", { name: action }).click()
}

async function confirm(page: Page, button: string): Promise<void> {
  await page.getByRole("dialog").getByRole("button", { name: button }).click()
  await expectNoDialog(page)
}

test.describe("the users page", () => {
  test("an invitation's link is shown once and listed; revoked, it lets nobody in", async ({ page, browser }) => {
    await openUsers(page)
    await page.getByLabel("Email").fill("revoked@example.org")
    await page.getByRole("button", { name: "Create link" }).click()
    const link = await page.getByText(/\/invite\?code=/).innerText()
    await page.getByRole("button", { name: "Revoke the invitation of revoked@example.org" }).click()
    await confirm(page, "Revoke")
    await expect(page.getByRole("list", { name: "Open invitations" }).getByText("revoked@example.org")).toHaveCount(0)

    const stranger = await (await browser.newContext()).newPage()
    await stranger.goto(link)
    await stranger.getByLabel("Password").fill(PASSWORD)
    await stranger.getByRole("button", { name: "Join", exact: true }).click()
    await expect(stranger.getByText(/already used or has expired/)).toBeVisible()
    await stranger.context().close()
  })

  test("a role is changed after a dialog that says what will happen", async ({ page, browser }) => {
    const user = await newUser(browser)
    await openUsers(page)
    await chooseAction(page, user.email, "Make admin…")
    await confirm(page, "Make admin")
    await expect(userRow(page, user.email).getByText("admin", { exact: true })).toBeVisible()

    await chooseAction(page, user.email, "Make user…")
    const consequences = page.getByRole("dialog").getByRole("list", { name: "What will happen" })
    for (const word of ["connections are closed", "are stopped", "are held", "revoked", "transcripts stay"])
      await expect(consequences).toContainText(word)
    await confirm(page, "Make user")
    await expect(userRow(page, user.email).getByText("user", { exact: true })).toBeVisible()
    await user.page.context().close()
  })

  test("a disabled user is signed out and cannot sign in until enabled again", async ({ page, browser }) => {
    const user = await newUser(browser)
    await openUsers(page)
    await chooseAction(page, user.email, "Disable…")
    await confirm(page, "Disable")
    await expect(userRow(page, user.email).getByText("disabled")).toBeVisible()
    await user.page.waitForURL(/\/login\?next=/)

    await chooseAction(page, user.email, "Enable…")
    await confirm(page, "Enable")
    await signIn(user.page, rewake.url, { email: user.email, password: PASSWORD })
    await user.page.context().close()
  })

  test("a reset link sets a new password and signs in, once", async ({ page, browser }) => {
    const user = await newUser(browser)
    await openUsers(page)
    await chooseAction(page, user.email, "Reset password…")
    await page.getByRole("dialog").getByRole("button", { name: "Create link" }).click()
    const link = await page.getByText(/\/reset\?code=/).innerText()

    const reset = async (where: Page) => {
      await where.goto(link)
      await where.getByLabel("New password").fill("a password set by link")
      await where.getByRole("button", { name: "Set password and sign in" }).click()
    }
    await reset(user.page)
    await user.page.waitForURL(/\/tasks/)
    await reset(user.page)
    await expect(user.page.getByText(/already used or has expired/)).toBeVisible()
    await user.page.context().close()
  })

  test("signing a user out everywhere ends their browsers", async ({ page, browser }) => {
    const user = await newUser(browser)
    await openUsers(page)
    await expect(userRow(page, user.email)).toContainText("1 browser signed in")
    await chooseAction(page, user.email, "Sign out everywhere…")
    await confirm(page, "Sign out")
    await expect(userRow(page, user.email)).toContainText("no browser signed in")
    await user.page.waitForURL(/\/login\?next=/)
    await user.page.context().close()
  })

  test("where users may not run agents, the New task page says so before anything is typed", async ({ page, browser }) => {
    const user = await newUser(browser)
    await rewake.api("PATCH", "/api/v1/admin/settings", { standalone_for_users: true })
    await openPage(user.page, `${rewake.url}/tasks/new`)
    const field = user.page.getByRole("textbox", { name: /what should be done/i })
    await expect(user.page.getByText(/with the rights of the server's account/)).toBeVisible()
    await expect(field).toBeEnabled()

    await openUsers(page)
    const allowed = page.getByRole("switch", { name: "Users may run agents directly on this machine" })
    await expect(allowed).toBeChecked()
    await allowed.click()
    await confirm(page, "Stop and disallow")
    await expect(allowed).not.toBeChecked()

    await openPage(user.page, `${rewake.url}/tasks/new`)
    await expect(field).toBeDisabled()
    await expect(user.page.getByText("You can still open and read the tasks you have.")).toBeVisible()
    await user.page.context().close()
  })
})

test.describe("settings", () => {
  test("another browser can be signed out; this one stays", async ({ browser }) => {
    const user = await newUser(browser)
    const other = await (await browser.newContext()).newPage()
    await signIn(other, rewake.url, { email: user.email, password: PASSWORD })
    await openSettings(user.page)
    const list = user.page.getByRole("list", { name: "Signed-in browsers" })
    await expect(list.getByRole("listitem")).toHaveCount(2)
    await expect(list.getByRole("listitem").filter({ hasText: "this browser" })).toHaveCount(1)
    await user.page.getByRole("button", { name: "Sign out all others…" }).click()
    await confirm(user.page, "Sign out")
    await expect(list.getByRole("listitem")).toHaveCount(1)
    await other.waitForURL(/\/login\?next=/)

    const moves: string[] = []
    other.on("request", (request) => request.isNavigationRequest() && moves.push(new URL(request.url()).pathname))
    await other.goto(`${rewake.url}/tasks`, { waitUntil: "commit" })
    await other.waitForURL(/\/login\?next=/)
    expect(moves, "each further move would abort the one under way").toEqual(["/tasks", "/login"])
    await other.context().close()
    await user.page.context().close()
  })

  test("a token shows what it may do and when it expires; a changed password revokes it", async ({ browser }) => {
    const user = await newUser(browser)
    await openSettings(user.page)
    const scopes = user.page.getByRole("group", { name: "May do" })
    await expect(scopes.getByRole("checkbox")).toHaveCount(2)
    await scopes.getByRole("checkbox", { name: /^Write/ }).uncheck()
    await user.page.getByLabel("Name", { exact: true }).fill("laptop")
    await user.page.getByLabel("Valid for").selectOption("30")
    await user.page.getByRole("button", { name: "Create token" }).click()
    await expect(user.page.getByText("it will not be shown again")).toBeVisible()
    const token = user.page.getByRole("list", { name: "API tokens" }).getByRole("listitem").filter({ hasText: "laptop" })
    await expect(token).toContainText("laptop · read")
    await expect(token).not.toContainText("write")
    await expect(token).toContainText("never used · expires")

    await user.page.getByLabel("Current password").fill(PASSWORD)
    await user.page.getByLabel("New password").fill("a changed long password")
    await expect(user.page.getByRole("checkbox", { name: "Also revoke my API tokens" })).toBeChecked()
    await user.page.getByRole("button", { name: "Change password" }).click()
    await expect(user.page.getByText("Password changed.")).toBeVisible()
    await expect(token).toHaveCount(0)
    await user.page.context().close()
  })

  test("a git credential is saved without being shown again, and removed", async ({ browser }) => {
    const user = await newUser(browser)
    await openSettings(user.page)
    await user.page.getByLabel("Host").fill("git.example.com")
    await user.page.getByLabel("User name").fill("ada")
    await user.page.getByLabel("Token or password").fill("planted-git-secret")
    await user.page.getByRole("button", { name: "Save" }).click()
    const list = user.page.getByRole("list", { name: "Git credentials" })
    await expect(list).toContainText("git.example.com")
    await user.page.reload()
    await expect(list).toContainText("ada")
    expect(await user.page.content()).not.toContain("planted-git-secret")
    await user.page.getByRole("button", { name: "Remove the credential for git.example.com" }).click()
    await confirm(user.page, "Remove")
    await expect(list).toHaveCount(0)
    await user.page.context().close()
  })
})

test("the security log names who did what, and shows only what is asked for", async ({ page, browser }) => {
  const user = await newUser(browser)
  await openUsers(page)
  await chooseAction(page, user.email, "Disable…")
  await confirm(page, "Disable")
  await openPage(page, `${rewake.url}/admin/audit`)
  const log = page.getByRole("table", { name: /^Security log/ })
  await expect(log.getByRole("row").filter({ hasText: "User disabled" }).first()).toContainText("admin@example.org")
  await page.getByLabel("What").selectOption("user.disabled")
  await expect(page).toHaveURL(/action=user\.disabled/)
  await expect(log.getByRole("row").filter({ hasText: "Signed in" })).toHaveCount(0)
  await expect(page.getByRole("link", { name: "Export" })).toHaveAttribute("href", "/api/v1/admin/audit/export?action=user.disabled")
  await user.page.context().close()
})

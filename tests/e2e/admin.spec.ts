import { expect, type Page, test } from "@playwright/test"
import type { Rewake } from "../support/server"
import { expectTranscript, joinByInvitation, openPage, openTask, sessionIdIn } from "./pages"
import { useEmptyServer, useSharedServer } from "./use-server"

let rewake: Rewake
const assign = (started: Rewake) => {
  rewake = started
}

const row = (page: Page, title: string) => page.getByRole("row").filter({ hasText: title })

test.describe("when the server is killed", () => {
  useEmptyServer(assign)

  test("an admin sees a running session, and after kill -9 that its agent was adopted", async ({ page }) => {
    await openTask(page, rewake, "count 2000 50")
    await expectTranscript(page).toContain(" 20 21 ")
    await page.getByRole("button", { name: "Account" }).click()
    await page.getByRole("menuitem", { name: "Sessions" }).click()
    await expect(page.getByRole("heading", { name: "Sessions" })).toBeVisible()
    await expect(row(page, "count 2000 50")).toContainText("running")
    await expect(row(page, "count 2000 50")).toContainText("adopt")

    await rewake.restart()
    await page.getByRole("navigation", { name: "Admin" }).getByRole("link", { name: "Recoveries" }).click()
    await expect(page.getByText("running now")).toHaveCount(1)
    await expect(page.getByText("the same agent goes on: it was adopted")).toBeVisible()
    await expect(page.getByRole("list", { name: "1 session" })).toContainText("count 2000 50")
  })

  test("with the daemon killed too, the filter finds the interrupted session and its timeline tells why", async ({ page }) => {
    const url = await openTask(page, rewake, "count 2000 50")
    const sessionId = sessionIdIn(url)
    await expectTranscript(page).toContain(" 5 6 ")
    await rewake.kill9()
    rewake.killDaemon()
    await rewake.boot()
    await rewake.waitForEvent(
      sessionId,
      (event) => event.kind === "recovery.receipt" && event.receipt_kind === "resume",
      "the agent's return",
    )

    await openPage(page, `${rewake.url}/admin/sessions`)
    await page
      .getByRole("group", { name: "Show" })
      .getByRole("button", { name: /Interrupted/ })
      .click()
    await expect(page).toHaveURL(/filter=interrupted/)
    await expect(row(page, "count 2000 50")).toContainText("interrupted_startup")
    await row(page, "count 2000 50")
      .getByRole("link", { name: /^interrupted:/ })
      .click()

    await page.getByRole("tab", { name: "Timeline" }).click()
    const timeline = page.getByRole("tabpanel", { name: "Timeline" })
    await expect(timeline.getByRole("row", { name: /interrupted the server restarted/ })).toBeVisible()
    await expect(timeline.getByRole("row", { name: /resumed memory: native/ })).toBeVisible()
    await expect(timeline.getByRole("img", { name: /^runs: interrupted/ })).toBeVisible()
    await page.reload()
    await expect(timeline).toBeVisible()
  })
})

test.describe("on one server", () => {
  useSharedServer(assign)

  test("stopping asks first; a stopped agent can be resumed from its row", async ({ page }) => {
    await openTask(page, rewake, "remember fig")
    await expect(page.getByText("I will remember fig.")).toBeVisible()
    await openPage(page, `${rewake.url}/admin/sessions`)
    await row(page, "remember fig").getByRole("button", { name: /^Stop/ }).click()
    const dialog = page.getByRole("dialog")
    await expect(dialog.getByRole("button", { name: "Keep running" })).toBeFocused()
    await dialog.getByRole("button", { name: "Stop" }).click()
    await row(page, "remember fig")
      .getByRole("button", { name: /^Resume/ })
      .click()
    await expect(row(page, "remember fig").getByRole("button", { name: /^Stop/ })).toBeVisible()
  })

  test("to a plain user the status pages do not exist", async ({ browser }) => {
    const invitation = (await rewake.api<{ link: string }>("POST", "/api/v1/admin/invitations", { email: "second@example.org" })).body.link
    const second = await joinByInvitation(browser, invitation)
    await second.getByRole("button", { name: "Account" }).click()
    await expect(second.getByRole("menuitem", { name: "Recoveries" })).toHaveCount(0)
    for (const path of ["/admin", "/admin/sessions", "/admin/recoveries", "/admin/archives", "/admin/users", "/admin/audit"]) {
      await second.goto(`${rewake.url}${path}`)
      await expect(second.getByRole("heading", { name: "There is nothing here" })).toBeVisible()
    }
    await second.context().close()
  })
})

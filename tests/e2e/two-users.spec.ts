import { expect, test } from "@playwright/test"
import { Rewake } from "../support/server"
import { newTask, signIn } from "./pages"

let rewake: Rewake
test.afterEach(() => rewake.stop())

test("two users cannot see each other: an invited user finds an empty list, and another's task is not there", async ({ page, browser }) => {
  rewake = await Rewake.start()
  await signIn(page, rewake.url)
  const adminsSession = await newTask(page, rewake.url, "remember the-admins-secret")
  await expect(page.getByRole("log")).toContainText("the-admins-secret")

  const invitation = rewake.cli("invite", "--email", "second@example.org")
  const other = await browser.newContext()
  const second = await other.newPage()
  await second.goto(invitation)
  await second.getByLabel("Password").fill("another long password")
  await second.getByRole("button", { name: "Join" }).click()
  await second.waitForURL(/\/tasks/)
  await expect(second.getByText("No tasks yet.")).toBeVisible()

  await second.goto(adminsSession)
  await expect(second.getByRole("heading", { name: "There is nothing here" })).toBeVisible()
  await expect(second.getByText("the-admins-secret")).toHaveCount(0)
  await other.close()
})

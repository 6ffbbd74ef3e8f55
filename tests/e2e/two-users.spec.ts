import { expect, test } from "@playwright/test"
import type { Rewake } from "../support/server"
import { joinByInvitation, newTask } from "./pages"
import { useSharedServer } from "./use-server"

let rewake: Rewake
useSharedServer((started) => {
  rewake = started
})

test("an invited user has an empty task list and cannot open another user's task", async ({ page, browser }) => {
  const adminsSession = await newTask(page, rewake.url, "remember the-admins-secret")
  await expect(page.getByRole("log")).toContainText("the-admins-secret")

  const invitation = rewake.cli("invite", "--email", "second@example.org")
  const second = await joinByInvitation(browser, invitation)
  await expect(second.getByText("No tasks yet.")).toBeVisible()

  await second.goto(adminsSession)
  await expect(second.getByRole("heading", { name: "There is nothing here" })).toBeVisible()
  await expect(second.getByText("the-admins-secret")).toHaveCount(0)
  await second.context().close()
})

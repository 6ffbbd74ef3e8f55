import { expect, test } from "@playwright/test"
import { Rewake } from "../support/server"
import { newTask, send, signIn, transcriptText } from "./pages"

let rewake: Rewake
test.beforeEach(async ({ page }) => {
  rewake = await Rewake.start()
  await signIn(page, rewake.url)
})
test.afterEach(() => rewake.stop())

test("what is sent while the agent works is queued above the composer, can be changed and withdrawn, and Esc stops the turn", async ({
  page,
}) => {
  await newTask(page, rewake.url, "count 500 50")
  await expect.poll(() => transcriptText(page)).toContain("3 4")
  await send(page, "recall")
  await send(page, "remember pear")
  const queue = page.getByRole("region", { name: "Queue" })
  await expect(queue.getByRole("listitem")).toHaveCount(2)
  await queue.getByRole("listitem").nth(1).getByRole("button", { name: "Move up" }).click()
  await expect(queue.getByRole("listitem").first()).toContainText("remember pear")
  await page.keyboard.press("Escape")
  await expect(page.getByText(/I remember: pear/)).toBeVisible()
  await expect(queue).toHaveCount(0)
})

test("a draft survives a reload, and deleting asks first", async ({ page }) => {
  await newTask(page, rewake.url, "remember plum")
  const composer = page.getByRole("textbox", { name: /^Message to/ })
  await composer.fill("half a thought")
  await page.reload()
  await expect(composer).toHaveValue("half a thought")
  await page.getByRole("button", { name: "Actions for remember plum" }).first().click()
  await page.getByRole("menuitem", { name: /delete/i }).click()
  const dialog = page.getByRole("dialog")
  await expect(dialog).toBeVisible()
  await dialog.getByRole("button", { name: /delete/i }).click()
  await expect(page.getByText("No tasks yet.")).toBeVisible()
})

test("a long session opens at its end and keeps only what is in sight in the page", async ({ page }) => {
  const url = await newTask(page, rewake.url, "flood 400")
  const sessionId = url.split("/").at(-1) ?? ""
  await rewake.waitForRuns(sessionId, 1)
  await page.reload()
  await expect(page.getByRole("log")).toBeVisible()
  const rendered = await page.getByRole("log").locator("[data-index]").count()
  expect(rendered).toBeGreaterThan(0)
  expect(rendered).toBeLessThan(60)
})

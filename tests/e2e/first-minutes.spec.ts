import { expect, type Page, test } from "@playwright/test"
import { numbers, Rewake } from "../support/server"
import { expectTranscript, newTask, send, signIn } from "./pages"

let rewake: Rewake
test.afterEach(() => rewake.stop())

test("the printed link creates the first admin; a task's answers are there in a reopened browser", async ({ page, browser }) => {
  rewake = await Rewake.start({ empty: true, env: { ADMIN_EMAIL: "", ADMIN_PASSWORD: "" } })
  const link = rewake.output.split("\n").find((line) => line.includes("/setup?code=")) ?? ""
  await page.goto(link)
  await page.getByLabel("Email").fill("first@example.org")
  await page.getByLabel("Password").fill("a long enough password")
  await page.getByRole("button", { name: "Create account" }).click()
  await page.waitForURL(/\/tasks/)

  const url = await newTask(page, rewake.url, "count 20 20")
  await expectTranscript(page).toContain(numbers(20))
  await send(page, "remember apple")
  await send(page, "recall")
  await expect(page.getByRole("log")).toContainText("apple", { ignoreCase: true })
  await expect(page.getByRole("log").getByText(/I remember: apple/)).toBeVisible()

  const again = await browser.newContext({ storageState: await page.context().storageState() })
  await page.close()
  const reopened = await again.newPage()
  await reopened.goto(url)
  await expectTranscript(reopened).toContain(numbers(20))
  await expect(reopened.getByText(/I remember: apple/)).toBeVisible()
  await again.close()
})

test("the setup link works once", async ({ page, browser }) => {
  rewake = await Rewake.start({ empty: true, env: { ADMIN_EMAIL: "", ADMIN_PASSWORD: "" } })
  const link = rewake.output.split("\n").find((line) => line.includes("/setup?code=")) ?? ""
  const open = async (where: Page, email: string) => {
    await where.goto(link)
    await where.getByLabel("Email").fill(email)
    await where.getByLabel("Password").fill("a long enough password")
    await where.getByRole("button", { name: "Create account" }).click()
  }
  await open(page, "first@example.org")
  await page.waitForURL(/\/tasks/)
  // Another browser: the first one's page is still busy with its own way to the workbench.
  const other = await browser.newContext()
  const second = await other.newPage()
  await open(second, "second@example.org")
  await expect(second.getByText(/already used/)).toBeVisible()
  expect(second.url()).toContain("/setup")
  await other.close()
})

test("a wrong password says so and keeps the address; signing out ends the session", async ({ page }) => {
  rewake = await Rewake.start()
  await page.goto(`${rewake.url}/login`)
  await page.getByLabel("Email").fill("admin@example.org")
  await page.getByLabel("Password").fill("not the password")
  await page.getByRole("button", { name: "Sign in" }).click()
  await expect(page.getByRole("alert").filter({ hasText: /password/i })).toBeVisible()
  await expect(page.getByLabel("Email")).toHaveValue("admin@example.org")
  await signIn(page, rewake.url)
  await page.getByRole("button", { name: /account/i }).click()
  await page.getByRole("menuitem", { name: "Sign out" }).click()
  await page.waitForURL(/\/login/)
  await page.goto(`${rewake.url}/tasks`)
  await page.waitForURL(/\/login/)
})

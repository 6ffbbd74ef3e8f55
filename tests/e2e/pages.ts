import { expect, type Page } from "@playwright/test"
import { ADMIN } from "../support/server"

export async function signIn(page: Page, url: string, who = ADMIN): Promise<void> {
  await page.goto(`${url}/login`)
  await page.getByLabel("Email").fill(who.email)
  await page.getByLabel("Password").fill(who.password)
  await page.getByRole("button", { name: "Sign in" }).click()
  await page.waitForURL(/\/tasks/)
}

export async function newTask(page: Page, url: string, message: string): Promise<string> {
  await page.goto(`${url}/tasks/new`)
  // Before the page is alive, Enter is only a new line.
  await expect(page.getByText("Connected")).toBeVisible()
  const field = page.getByRole("textbox", { name: /what should be done/i })
  await field.fill(message)
  await field.press("Enter")
  await page.waitForURL(/\/sessions\/sess_/)
  return page.url()
}

export async function send(page: Page, message: string): Promise<void> {
  const composer = page.getByRole("textbox", { name: /^Message to/ })
  await composer.fill(message)
  await composer.press("Enter")
  await expect(composer).toHaveValue("")
}

/** Text as a reader sees it, white space aside. */
export async function transcriptText(page: Page): Promise<string> {
  return (await page.getByRole("log").innerText()).replace(/\s+/g, " ")
}

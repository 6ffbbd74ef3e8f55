import { type Browser, expect, type Page } from "@playwright/test"
import { ADMIN, type Rewake } from "../support/server"

export async function signIn(page: Page, url: string, who = ADMIN): Promise<void> {
  await page.goto(`${url}/login`)
  await page.getByLabel("Email").fill(who.email)
  await page.getByLabel("Password").fill(who.password)
  await page.getByRole("button", { name: "Sign in", exact: true }).click()
  await page.waitForURL(/\/tasks/)
}

/** A new user's page in a browser context of its own, after accepting an invitation. Whoever opens it closes its context. */
export async function joinByInvitation(browser: Browser, link: string): Promise<Page> {
  const page = await (await browser.newContext()).newPage()
  await page.goto(link)
  await page.getByLabel("Password").fill("another long password")
  await page.getByRole("button", { name: "Join", exact: true }).click()
  await page.waitForURL(/\/tasks/)
  return page
}

/** Opens a page and waits until it is hydrated: before that, clicks and keys do nothing. */
export async function openPage(page: Page, url: string): Promise<void> {
  await page.goto(url)
  // On a phone it is in the closed sidebar.
  await expect(page.getByText("Connected", { exact: true })).toBeAttached()
}

/** Creates a task by the API and opens its session. Answers the session's address. */
export async function openTask(page: Page, rewake: Rewake, message: string, agent?: string): Promise<string> {
  const { task, session } = await rewake.createTask(message, agent === undefined ? {} : { agent })
  const url = `${rewake.url}/tasks/${task.id}/sessions/${session.id}`
  await openPage(page, url)
  return url
}

/** Creates a task on its page. Slower than `openTask`; for tests about that page. */
export async function newTask(page: Page, url: string, message: string): Promise<string> {
  await openPage(page, `${url}/tasks/new`)
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

/** The task's row in the list beside every page. */
export const taskRow = (page: Page, title: string) => page.getByRole("navigation", { name: "Tasks" }).getByRole("link", { name: title })

/** Behind an open dialog nothing has a role, and so whatever is looked for there is not there. */
export const expectNoDialog = (page: Page) => expect(page.getByRole("dialog")).toHaveCount(0)

export const taskIdIn = (sessionUrl: string): number => Number(/\/tasks\/(\d+)/.exec(sessionUrl)?.[1])
export const sessionIdIn = (sessionUrl: string): string => new URL(sessionUrl).pathname.split("/").at(-1) ?? ""

/** The text of the transcript as a reader sees it, white space aside. */
export async function transcriptText(page: Page): Promise<string> {
  return (await page.getByRole("log").innerText()).replace(/\s+/g, " ")
}

/** Looks again every 100 ms: Playwright's own intervals grow to a second, which every wait then rounds up to. */
export const pollText = (look: () => Promise<string>, timeout?: number) =>
  expect.poll(look, { intervals: [100], ...(timeout === undefined ? {} : { timeout }) })
export const expectTranscript = (page: Page, timeout?: number) => pollText(() => transcriptText(page), timeout)

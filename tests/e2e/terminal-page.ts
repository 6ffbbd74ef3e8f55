import { expect, type Page } from "@playwright/test"
import type { Rewake } from "../support/server"
import { openPage, pollText } from "./pages"

/** What a screen reader is given is what the tests read: the drawing itself is a canvas. */
export const readable = (page: Page) => page.addInitScript(() => localStorage.setItem("rewake.terminal.screen-reader", "on"))
export const pane = (page: Page, name: string) => page.getByRole("region", { name, exact: true })
export const rows = (page: Page, name: string) => pane(page, name).locator(".xterm-accessibility-tree")
export const text = (page: Page, name: string) => rows(page, name).innerText()
export const tab = (page: Page, name: string) => page.getByRole("tab", { name: new RegExp(`^${name}\\b`) })
/** Where panes stand, all in one moment: a strip above them that goes moves them. */
export const placesOf = async (page: Page, ...names: string[]): Promise<DOMRect[]> => {
  const panes = await Promise.all(names.map((name) => pane(page, name).elementHandle()))
  return page.evaluate((elements) => elements.map((element) => (element as Element).getBoundingClientRect().toJSON()), panes)
}

export const idOf = async (page: Page, name: string) => (await pane(page, name).getAttribute("data-terminal")) ?? ""
export const expectText = (page: Page, name: string, timeout?: number) => pollText(() => text(page, name), timeout)

/** Opens a session whose agent has answered once; its terminals can be read by tests. */
export async function openSession(page: Page, rewake: Rewake): Promise<string> {
  await readable(page)
  const { task, session } = await rewake.createTask("remember pear")
  await rewake.waitForRuns(session.id, 1)
  await openPage(page, `${rewake.url}/tasks/${task.id}/sessions/${session.id}`)
  return session.id
}
export async function newTerminal(page: Page, choice: string | RegExp = "Terminal"): Promise<void> {
  await page.getByRole("button", { name: "New terminal" }).click()
  await page.getByRole("menuitem", { name: choice, exact: true }).click()
}
export const live = (page: Page, name: string) => expect(pane(page, name)).toHaveAttribute("data-phase", "live")
export async function type(page: Page, name: string, line: string): Promise<void> {
  await live(page, name)
  await pane(page, name).locator(".xterm-screen").click()
  await page.keyboard.type(line)
  await page.keyboard.press("Enter")
}

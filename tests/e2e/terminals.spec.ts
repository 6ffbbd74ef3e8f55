import { type Browser, devices, expect, type Page, test } from "@playwright/test"
import type { Rewake } from "../support/server"
import { TERMINAL_ENV } from "../support/terminal"
import { expectNoDialog } from "./pages"
import { expectText, idOf, live, newTerminal, openSession, pane, placesOf, tab, type } from "./terminal-page"
import { addSession, useSharedServer } from "./use-server"

let rewake: Rewake
useSharedServer(
  (started) => {
    rewake = started
  },
  { env: { ...TERMINAL_ENV } },
)

const session = (page: Page) => openSession(page, rewake)
const typeInTab = async (page: Page, name: string, line: string) => {
  await tab(page, name).click()
  await type(page, name, line)
}
const actionsOf = (page: Page, name: string) =>
  pane(page, name)
    .getByRole("button", { name: `Actions for ${name}` })
    .click()
async function phone(browser: Browser): Promise<Page> {
  const { defaultBrowserType: _, ...device } = devices["Pixel 7"]
  const context = await browser.newContext(device)
  await addSession(context, rewake)
  return context.newPage()
}

test("tabs are renamed, split and closed, survive a reload, and keep the page's shortcut keys out", async ({ page }) => {
  const id = await session(page)
  await newTerminal(page)
  await live(page, "Terminal 1")
  await type(page, "Terminal 1", "echo one-$((1+1))")
  await expectText(page, "Terminal 1").toContain("one-2")

  await tab(page, "Terminal 1").dblclick()
  await page.getByRole("textbox", { name: "Name of Terminal 1" }).fill("build")
  await page.keyboard.press("Enter")
  await expect(tab(page, "build")).toBeVisible()

  await pane(page, "build").getByRole("button", { name: "Split" }).click()
  await live(page, "Terminal 1")
  await type(page, "Terminal 1", "echo two-$((2+2)); jk?n")
  await expectText(page, "Terminal 1").toContain("two-4")
  await expectText(page, "build").toContain("one-2")
  await expectNoDialog(page)
  await page.reload()
  await expectText(page, "build").toContain("one-2")
  await expectText(page, "Terminal 1").toContain("two-4")
  const [left, right] = await placesOf(page, "build", "Terminal 1")
  expect(left?.right).toBeLessThanOrEqual((right?.left ?? 0) + 1)

  await type(page, "Terminal 1", "sleep 1234")
  await expect
    .poll(async () => JSON.stringify((await rewake.api("GET", `/api/v1/sessions/${id}/workers/${await idOf(page, "Terminal 1")}`)).body))
    .toContain("sleep 1234")
  await tab(page, "Terminal 1").focus()
  await page.keyboard.press("Delete")
  const dialog = page.getByRole("dialog", { name: "Close Terminal 1?" })
  await expect(dialog).toContainText("sleep 1234")
  await dialog.getByRole("button", { name: "End and close" }).click()
  await expectNoDialog(page)
  await expect(tab(page, "Terminal 1")).toHaveCount(0)
  await live(page, "build")

  // What is written while nobody looks marks the tab.
  await type(page, "build", "sleep 1; echo behind-your-back")
  await tab(page, "Chat").click()
  await expect(tab(page, "build")).toHaveAccessibleName(/new output/)

  await typeInTab(page, "build", "exit")
  await expect(pane(page, "build").getByText("The shell ended.")).toBeVisible()
  await pane(page, "build").getByRole("button", { name: "New shell" }).click()
  await expectText(page, "build").toMatch(/restored \d\d:\d\d, new shell/)
})

test("a conversation is forked from the menu of its tab; a shell has none to fork", async ({ page }) => {
  await session(page)
  await newTerminal(page, "Demo")
  await expectText(page, "Demo 1").toContain("demo>")
  await type(page, "Demo 1", "remember medlar")
  await expectText(page, "Demo 1").toContain("I will remember medlar.")
  await actionsOf(page, "Demo 1")
  await page.getByRole("menuitem", { name: "Fork conversation" }).click()
  await expect(tab(page, "Demo 2")).toHaveAttribute("aria-selected", "true")
  await expectText(page, "Demo 2").toContain("A copy of the conversation")
  await type(page, "Demo 2", "recall")
  await expectText(page, "Demo 2").toContain("I remember: medlar")

  await newTerminal(page)
  await live(page, "Terminal 1")
  await actionsOf(page, "Terminal 1")
  await expect(page.getByRole("menuitem", { name: "Restart…" })).toBeVisible()
  await expect(page.getByRole("menuitem", { name: "Fork conversation" })).toHaveCount(0)
})

test("on a phone a bar has the missing keys, and a split puts terminals below each other", async ({ browser }) => {
  const page = await phone(browser)
  await session(page)
  await newTerminal(page)
  await type(page, "Terminal 1", "sleep 777")
  // On a dense display letters are drawn at the size of the page's, whoever draws them.
  await expect
    .poll(() =>
      page.evaluate(() =>
        [...document.querySelectorAll<HTMLCanvasElement>(".xterm-screen canvas")].every(
          (canvas) => Math.abs(canvas.width / canvas.clientWidth - devicePixelRatio) < 0.1,
        ),
      ),
    )
    .toBe(true)
  const keys = pane(page, "Terminal 1").getByRole("toolbar", { name: "Keys" })
  for (const key of await keys.getByRole("button").all()) {
    const box = await key.boundingBox()
    expect(Math.min(box?.width ?? 0, box?.height ?? 0)).toBeGreaterThanOrEqual(44)
  }
  await keys.getByRole("button", { name: "Ctrl" }).tap()
  await expect(keys.getByRole("button", { name: "Ctrl" })).toHaveAttribute("aria-pressed", "true")
  await page.keyboard.type("c")
  await expect(keys.getByRole("button", { name: "Ctrl" })).toHaveAttribute("aria-pressed", "false")
  await page.keyboard.type("echo after-$((3*3)) ")
  await keys.getByRole("button", { name: "Pipe" }).tap()
  await page.keyboard.type(" cat")
  await page.keyboard.press("Enter")
  await expectText(page, "Terminal 1").toContain("after-9")
  await pane(page, "Terminal 1").getByRole("button", { name: "Split" }).tap()
  await live(page, "Terminal 2")
  const [upper, lower] = await placesOf(page, "Terminal 1", "Terminal 2")
  expect(upper?.bottom).toBeLessThanOrEqual((lower?.top ?? 0) + 1)
  await page.context().close()
})

import { devices, expect, type Page, test } from "@playwright/test"
import type { Rewake } from "../support/server"
import { TERMINAL_ENV } from "../support/terminal"
import { expectText, live, newTerminal, openSession, pane, rows, tab, text, type } from "./terminal-page"
import { addSession, useSharedServer } from "./use-server"

let rewake: Rewake
useSharedServer(
  (started) => {
    rewake = started
  },
  { env: { ...TERMINAL_ENV } },
)

const NAME = "Terminal 1"

/** The middle of a word as it stands on the screen. */
async function placeOf(page: Page, word: string, columns: number): Promise<{ x: number; y: number }> {
  const row = rows(page, NAME).getByRole("listitem").filter({ hasText: word }).last()
  const [box, screen] = [await row.boundingBox(), await pane(page, NAME).locator(".xterm-screen").boundingBox()]
  const cell = (screen?.width ?? 0) / columns
  const start = ((await row.textContent()) ?? "").indexOf(word)
  return { x: (screen?.x ?? 0) + cell * (start + word.length / 2), y: (box?.y ?? 0) + (box?.height ?? 0) / 2 }
}

test("a terminal has search, links, copy and paste, and earlier output page by page", async ({ page, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"])
  await openSession(page, rewake)
  await newTerminal(page)
  await type(page, NAME, "for i in $(seq 1 9); do echo needle-$i; done; seq 1 60000; echo fin-$((1+1))")
  await expectText(page, NAME, 60_000).toContain("fin-2")

  // What lies further back than the page keeps.
  await pane(page, NAME)
    .getByRole("button", { name: `Actions for ${NAME}` })
    .click()
  await page.getByRole("menuitem", { name: "Earlier output" }).click()
  const earlier = page.getByRole("region", { name: `Earlier output of ${NAME}` })
  await expect(earlier.getByRole("status")).toHaveText(/ earlier$/)
  await earlier.getByRole("button", { name: "Load earlier output" }).click()
  await expect(earlier.getByRole("status")).toHaveText("The beginning")
  await expect(earlier.locator(".xterm-accessibility-tree")).toContainText("needle-1")
  await earlier.getByRole("button", { name: "Back to live" }).click()

  await type(page, NAME, "clear; for i in $(seq 1 90); do echo straw-$i; done")
  await expectText(page, NAME).toContain("straw-90")
  expect(await text(page, NAME)).not.toContain("straw-7\n")
  await page.keyboard.press("Control+Shift+F")
  const search = page.getByRole("textbox", { name: "Search this terminal" })
  await search.fill("straw-7")
  await expectText(page, NAME).toContain("straw-7")
  await search.press("Enter")
  await search.fill("nowhere-to-be-found")
  await expect(search).toHaveAttribute("aria-invalid", "true")
  await search.press("Escape")
  await expect(search).toHaveCount(0)

  await type(page, NAME, "clear; stty size")
  await expectText(page, NAME).toMatch(/^\d+ \d+\s/)
  const columns = Number(/^\d+ (\d+)/.exec(await text(page, NAME))?.[1])
  await type(page, NAME, `clear; echo see ${rewake.url}/api/health`)
  // At the beginning of a line: not the command itself, which is cleared away.
  await expectText(page, NAME).toMatch(/^see http:\S+\/api\/health\s/m)
  const link = await placeOf(page, `${rewake.url}/api/health`, columns)
  await page.mouse.move(link.x, link.y)
  await expect(pane(page, NAME).locator(".xterm-cursor-pointer")).toBeVisible()
  const opened = context.waitForEvent("page")
  await page.mouse.click(link.x, link.y)
  const led = await opened
  await expect(led).toHaveURL(/\/api\/health/)
  await led.close()

  // Copied by its word; pasted, a program that asked for it is told where a paste begins and ends.
  await type(page, NAME, "clear; printf '\\033[?2004h'; echo copied; cat -v")
  await expectText(page, NAME).toMatch(/^copied\s/m)
  const word = await placeOf(page, "copied", columns)
  await page.mouse.dblclick(word.x, word.y)
  await page.keyboard.press("Control+c")
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe("copied")
  await page.keyboard.press("Control+Shift+v")
  await page.keyboard.press("Enter")
  await expectText(page, NAME).toContain("^[[200~copied^[[201~")
})

test("an open terminal follows the theme; its tab can be dragged to another place", async ({ page }) => {
  await page.emulateMedia({ colorScheme: "light" })
  await openSession(page, rewake)
  await newTerminal(page)
  await live(page, NAME)
  const colours = () =>
    page.evaluate(() => {
      const backgrounds = [...document.querySelectorAll(".xterm, .xterm *")].map((one) => getComputedStyle(one).backgroundColor)
      const canvas = document.createElement("canvas").getContext("2d")
      if (canvas) canvas.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--bg")
      canvas?.fillRect(0, 0, 1, 1)
      const [red, green, blue] = canvas?.getImageData(0, 0, 1, 1).data ?? []
      return { terminal: backgrounds.find((one) => one !== "rgba(0, 0, 0, 0)"), page: `rgb(${red}, ${green}, ${blue})` }
    })
  const light = await colours()
  expect(light.terminal).toBe(light.page)
  await page.emulateMedia({ colorScheme: "dark" })
  await expect.poll(async () => (await colours()).terminal).not.toBe(light.terminal)
  const dark = await colours()
  expect(dark.terminal).toBe(dark.page)

  await newTerminal(page)
  await live(page, "Terminal 2")
  const order = async () =>
    (await page.getByRole("tab").evaluateAll((tabs) => tabs.map((one) => one.getAttribute("aria-label")?.split(",")[0]))).filter(Boolean)
  await expect.poll(order).toEqual(["Terminal 1", "Terminal 2"])
  await tab(page, "Terminal 2").dragTo(tab(page, NAME))
  await expect.poll(order).toEqual(["Terminal 2", "Terminal 1"])
  await page.reload()
  await expect.poll(order).toEqual(["Terminal 2", "Terminal 1"])
})

test("on a phone with two terminals every tab fits the screen", async ({ browser }) => {
  const { defaultBrowserType: _, ...device } = devices["Pixel 7"]
  const context = await browser.newContext({ ...device, viewport: { width: 390, height: 844 } })
  await addSession(context, rewake)
  const page = await context.newPage()
  await openSession(page, rewake)
  await newTerminal(page)
  await live(page, NAME)
  await newTerminal(page)
  await live(page, "Terminal 2")
  const inSight = async (name: string) => {
    const box = await tab(page, name).boundingBox()
    return box !== null && box.x >= 0 && box.x + box.width <= 390 && box.height >= 44
  }
  await expect.poll(() => inSight("Terminal 2")).toBe(true)
  await tab(page, "Chat").tap()
  for (const name of ["Chat", NAME, "Terminal 2", "Changes", "Files", "Timeline"]) await expect.poll(() => inSight(name), name).toBe(true)
  await tab(page, "Timeline").tap()
  await expect(tab(page, "Timeline")).toHaveAttribute("aria-selected", "true")
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390)
  await context.close()
})

import { type Browser, devices, expect, type Page, test } from "@playwright/test"
import { Rewake } from "../support/server"
import { TERMINAL_ENV } from "../support/terminal"
import { signIn } from "./pages"
import { live, newTerminal, openSession, pane, readable, tab, text, type } from "./terminal-page"

let rewake: Rewake
test.beforeEach(async () => {
  rewake = await Rewake.start({ env: { ...TERMINAL_ENV } })
})
test.afterEach(() => rewake.stop())

const session = (page: Page) => openSession(page, rewake)

test("[L4] vim and a server loop are as they were after kill -9 of the server; without agentctl they leave their output, and one click runs it again", async ({
  page,
}) => {
  test.setTimeout(240_000)
  const id = await session(page)
  await newTerminal(page)
  // Without a status line vim tells the name only in a message, which the first change of size wipes out.
  await type(page, "Terminal 1", "vim -u NONE -N --cmd 'set laststatus=2' notes.txt")
  await expect.poll(() => text(page, "Terminal 1")).toContain("notes.txt")
  await page.keyboard.type("ia line that was not saved")
  await expect.poll(() => text(page, "Terminal 1")).toContain("a line that was not saved")
  await newTerminal(page)
  await type(page, "Terminal 2", "i=0; while :; do echo tick $i; i=$((i+1)); sleep 0.2; done")
  await expect.poll(() => text(page, "Terminal 2")).toContain("tick 5")

  await rewake.kill9()
  await expect(pane(page, "Terminal 2").getByText("Reconnecting…")).toBeVisible()
  await rewake.boot()
  await live(page, "Terminal 2")
  const seen = async () => Math.max(...[...(await text(page, "Terminal 2")).matchAll(/tick (\d+)/g)].map(([, n]) => Number(n)))
  const then = await seen()
  await expect.poll(seen).toBeGreaterThan(then + 5)
  await tab(page, "Terminal 1").click()
  await expect.poll(() => text(page, "Terminal 1")).toContain("a line that was not saved")
  await page.keyboard.type(", and one more word")
  await expect.poll(() => text(page, "Terminal 1")).toContain("not saved, and one more word")
  await tab(page, "Terminal 2").click()
  await pane(page, "Terminal 2").locator(".xterm-screen").click()
  await page.keyboard.press("Control+C")
  await type(page, "Terminal 2", "sleep 4321")
  await expect
    .poll(async () => JSON.stringify((await rewake.api("GET", `/api/v1/sessions/${id}/workers/${await idOf(page, "Terminal 2")}`)).body))
    .toContain("sleep 4321")

  rewake.killDaemon()
  await rewake.kill9()
  await rewake.boot()
  await expect.poll(() => text(page, "Terminal 2"), { timeout: 60_000 }).toMatch(/restored \d\d:\d\d, new shell/)
  const strip = pane(page, "Terminal 2").getByRole("list", { name: "Ended with the executor" })
  await expect(strip).toContainText("sleep 4321")
  await page.reload()
  await expect.poll(() => text(page, "Terminal 2"), { timeout: 30_000 }).toMatch(/tick \d+[\s\S]*restored \d\d:\d\d, new shell/)

  // The transcript names it as well, and offers the same.
  await tab(page, "Chat").click()
  await page
    .getByRole("button", { name: /Recovered .* ended/ })
    .last()
    .click()
  await expect(page.getByRole("log")).toContainText("sleep 4321")
  await page.getByRole("log").getByRole("button", { name: "Run again" }).last().click()
  await live(page, "Terminal 2")
  await expect
    .poll(async () => JSON.stringify((await rewake.api("GET", `/api/v1/sessions/${id}/workers/${await idOf(page, "Terminal 2")}`)).body))
    .toContain("sleep 4321")
  await tab(page, "Terminal 1").click()
  await expect.poll(() => text(page, "Terminal 1"), { timeout: 30_000 }).toMatch(/new shell/)
})

const idOf = async (page: Page, name: string) => (await pane(page, name).getAttribute("data-terminal")) ?? ""

test("tabs are renamed, split and closed; a reload shows the same; the page's keys do not act in a terminal", async ({ page }) => {
  const id = await session(page)
  await newTerminal(page)
  await live(page, "Terminal 1")
  await type(page, "Terminal 1", "echo one-$((1+1))")
  await expect.poll(() => text(page, "Terminal 1")).toContain("one-2")

  await tab(page, "Terminal 1").dblclick()
  await page.getByRole("textbox", { name: "Name of Terminal 1" }).fill("build")
  await page.keyboard.press("Enter")
  await expect(tab(page, "build")).toBeVisible()

  await pane(page, "build").getByRole("button", { name: "Split" }).click()
  await live(page, "Terminal 1")
  await type(page, "Terminal 1", "echo two-$((2+2)); jk?n")
  await expect.poll(() => text(page, "Terminal 1")).toContain("two-4")
  await expect.poll(() => text(page, "build")).toContain("one-2")
  await expect(page.getByRole("dialog")).toHaveCount(0)
  await page.reload()
  await expect.poll(() => text(page, "build")).toContain("one-2")
  await expect.poll(() => text(page, "Terminal 1")).toContain("two-4")
  const [left, right] = [await pane(page, "build").boundingBox(), await pane(page, "Terminal 1").boundingBox()]
  expect((left?.x ?? 0) + (left?.width ?? 0)).toBeLessThanOrEqual((right?.x ?? 0) + 1)

  await type(page, "Terminal 1", "sleep 1234")
  await expect
    .poll(async () => JSON.stringify((await rewake.api("GET", `/api/v1/sessions/${id}/workers/${await idOf(page, "Terminal 1")}`)).body))
    .toContain("sleep 1234")
  await tab(page, "Terminal 1").focus()
  await page.keyboard.press("Delete")
  const dialog = page.getByRole("dialog", { name: "Close Terminal 1?" })
  await expect(dialog).toContainText("sleep 1234")
  await dialog.getByRole("button", { name: "End and close" }).click()
  await expect(tab(page, "Terminal 1")).toHaveCount(0)
  await live(page, "build")

  // What is written while nobody looks marks the tab.
  await type(page, "build", "sleep 1; echo behind-your-back")
  await tab(page, "Chat").click()
  await expect(tab(page, "build")).toHaveAccessibleName(/new output/)

  await typeInTab(page, "build", "exit")
  await expect(pane(page, "build").getByText("The shell ended.")).toBeVisible()
  await pane(page, "build").getByRole("button", { name: "New shell" }).click()
  await expect.poll(() => text(page, "build")).toMatch(/restored \d\d:\d\d, new shell/)
})
const typeInTab = async (page: Page, name: string, line: string) => {
  await tab(page, name).click()
  await type(page, name, line)
}

test("a terminal agent goes on with its conversation after everything died, and a restart asks how", async ({ page }) => {
  await session(page)
  await newTerminal(page, "Demo")
  const name = "Demo 1"
  await expect.poll(() => text(page, name)).toContain("demo>")
  await type(page, name, "remember quince")
  await type(page, name, "recall")
  await expect.poll(() => text(page, name)).toMatch(/remember: .*quince/)
  rewake.killDaemon()
  await rewake.kill9()
  await rewake.boot()
  await expect.poll(() => text(page, name), { timeout: 60_000 }).toMatch(/restored \d\d:\d\d, conversation continued/)
  await type(page, name, "recall")
  await expect.poll(async () => (await text(page, name)).split("continued").at(-1)).toMatch(/quince/)

  await pane(page, name)
    .getByRole("button", { name: `Actions for ${name}` })
    .click()
  await page.getByRole("menuitem", { name: "Restart…" }).click()
  const dialog = page.getByRole("dialog", { name: `Restart ${name}?` })
  await expect(dialog.getByRole("button", { name: "Continue" })).toBeFocused()
  await dialog.getByRole("button", { name: "New session" }).click()
  await expect.poll(() => text(page, name)).toMatch(/, new conversation[\s\S]*demo>/)
  await type(page, name, "recall")
  await expect.poll(async () => (await text(page, name)).split("new conversation").at(-1)).toMatch(/nothing|no words|yet/i)
})

test("a conversation is forked from the menu of its tab; a shell has none to fork", async ({ page }) => {
  await session(page)
  await newTerminal(page, "Demo")
  await expect.poll(() => text(page, "Demo 1")).toContain("demo>")
  await type(page, "Demo 1", "remember medlar")
  await expect.poll(() => text(page, "Demo 1")).toContain("I will remember medlar.")
  await actionsOf(page, "Demo 1")
  await page.getByRole("menuitem", { name: "Fork conversation" }).click()
  await expect(tab(page, "Demo 2")).toHaveAttribute("aria-selected", "true")
  await expect.poll(() => text(page, "Demo 2")).toContain("A copy of the conversation")
  await type(page, "Demo 2", "recall")
  await expect.poll(() => text(page, "Demo 2")).toContain("I remember: medlar")

  await newTerminal(page)
  await live(page, "Terminal 1")
  await actionsOf(page, "Terminal 1")
  await expect(page.getByRole("menuitem", { name: "Restart…" })).toBeVisible()
  await expect(page.getByRole("menuitem", { name: "Fork conversation" })).toHaveCount(0)
})
const actionsOf = (page: Page, name: string) =>
  pane(page, name)
    .getByRole("button", { name: `Actions for ${name}` })
    .click()

test("terminals work while the agent cannot come back, and before it has ever answered", async ({ page }) => {
  await readable(page)
  await signIn(page, rewake.url)
  const { task, session } = await rewake.createTask("hang", { agent: "demo-forgetful" })
  await rewake.waitForEvent(session.id, (event) => event.kind === "executor.ready", "the executor")
  await page.goto(`${rewake.url}/tasks/${task.id}/sessions/${session.id}`)
  await newTerminal(page)
  await type(page, "Terminal 1", "echo works-$((6*7))")
  await expect.poll(() => text(page, "Terminal 1")).toContain("works-42")
  rewake.killDaemon()
  await rewake.restart()
  await expect(page.getByText("This agent doesn't support resuming. Start a new session.")).toBeVisible({ timeout: 60_000 })
  await type(page, "Terminal 1", "echo still-$((6*7))")
  await expect.poll(() => text(page, "Terminal 1")).toContain("still-42")
})

test("on a phone a bar gives the keys its keyboard has not, and two terminals stand below each other", async ({ browser }) => {
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
  await expect.poll(() => text(page, "Terminal 1")).toContain("after-9")
  await pane(page, "Terminal 1").getByRole("button", { name: "Split" }).tap()
  await live(page, "Terminal 2")
  const [upper, lower] = [await pane(page, "Terminal 1").boundingBox(), await pane(page, "Terminal 2").boundingBox()]
  expect((upper?.y ?? 0) + (upper?.height ?? 0)).toBeLessThanOrEqual((lower?.y ?? 0) + 1)
  await page.context().close()
})

const phone = async (browser: Browser) => {
  const { defaultBrowserType: _, ...device } = devices["Pixel 7"]
  return (await browser.newContext(device)).newPage()
}

import { expect, type Page, test } from "@playwright/test"
import type { Rewake } from "../support/server"
import { TERMINAL_ENV } from "../support/terminal"
import { openPage } from "./pages"
import { expectText, idOf, live, newTerminal, openSession, pane, readable, tab, text, type } from "./terminal-page"
import { useEmptyServer } from "./use-server"

let rewake: Rewake
useEmptyServer(
  (started) => {
    rewake = started
  },
  { env: { ...TERMINAL_ENV } },
)

const session = (page: Page) => openSession(page, rewake)

test("[L4] vim and a loop survive kill -9 of the server; without agentctl the command can be run again", async ({ page }) => {
  test.setTimeout(240_000)
  const id = await session(page)
  await newTerminal(page)
  // Without a status line vim tells the name only in a message, which the first change of size wipes out.
  await type(page, "Terminal 1", "vim -u NONE -N --cmd 'set laststatus=2' notes.txt")
  await expectText(page, "Terminal 1").toContain("notes.txt")
  await page.keyboard.type("ia line that was not saved")
  await expectText(page, "Terminal 1").toContain("a line that was not saved")
  await newTerminal(page)
  await type(page, "Terminal 2", "i=0; while :; do echo tick $i; i=$((i+1)); sleep 0.2; done")
  await expectText(page, "Terminal 2").toContain("tick 5")

  await rewake.kill9()
  await expect(pane(page, "Terminal 2").getByText("Reconnecting…")).toBeVisible()
  await rewake.boot()
  await live(page, "Terminal 2")
  const seen = async () => Math.max(...[...(await text(page, "Terminal 2")).matchAll(/tick (\d+)/g)].map(([, n]) => Number(n)))
  const then = await seen()
  await expect.poll(seen).toBeGreaterThan(then + 5)
  await tab(page, "Terminal 1").click()
  await expectText(page, "Terminal 1").toContain("a line that was not saved")
  await page.keyboard.type(", and one more word")
  await expectText(page, "Terminal 1").toContain("not saved, and one more word")
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
  await expectText(page, "Terminal 2", 60_000).toMatch(/restored \d\d:\d\d, new shell/)
  const strip = pane(page, "Terminal 2").getByRole("list", { name: "Ended with the executor" })
  await expect(strip).toContainText("sleep 4321")
  await page.reload()
  await expectText(page, "Terminal 2", 30_000).toMatch(/tick \d+[\s\S]*restored \d\d:\d\d, new shell/)

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
  await expectText(page, "Terminal 1", 30_000).toMatch(/new shell/)
})

test("a terminal agent continues its conversation after all was killed; a restart asks how", async ({ page }) => {
  await session(page)
  await newTerminal(page, "Demo")
  const name = "Demo 1"
  await expectText(page, name).toContain("demo>")
  await type(page, name, "remember quince")
  await type(page, name, "recall")
  await expectText(page, name).toMatch(/remember: .*quince/)
  rewake.killDaemon()
  await rewake.kill9()
  await rewake.boot()
  await expectText(page, name, 60_000).toMatch(/restored \d\d:\d\d, conversation continued/)
  await type(page, name, "recall")
  await expect.poll(async () => (await text(page, name)).split("continued").at(-1)).toMatch(/quince/)

  await pane(page, name)
    .getByRole("button", { name: `Actions for ${name}` })
    .click()
  await page.getByRole("menuitem", { name: "Restart…" }).click()
  const dialog = page.getByRole("dialog", { name: `Restart ${name}?` })
  await expect(dialog.getByRole("button", { name: "Continue" })).toBeFocused()
  await dialog.getByRole("button", { name: "New session" }).click()
  await expectText(page, name).toMatch(/, new conversation[\s\S]*demo>/)
  await type(page, name, "recall")
  await expect.poll(async () => (await text(page, name)).split("new conversation").at(-1)).toMatch(/nothing|no words|yet/i)
})

test("terminals work before the agent has answered and while it cannot resume", async ({ page }) => {
  await readable(page)
  const { task, session } = await rewake.createTask("hang", { agent: "demo-forgetful" })
  await rewake.waitForEvent(session.id, (event) => event.kind === "executor.ready", "the executor")
  await openPage(page, `${rewake.url}/tasks/${task.id}/sessions/${session.id}`)
  await newTerminal(page)
  await type(page, "Terminal 1", "echo works-$((6*7))")
  await expectText(page, "Terminal 1").toContain("works-42")
  rewake.killDaemon()
  await rewake.restart()
  await expect(page.getByText("This agent doesn't support resuming. Start a new session.")).toBeVisible({ timeout: 60_000 })
  await type(page, "Terminal 1", "echo still-$((6*7))")
  await expectText(page, "Terminal 1").toContain("still-42")
})

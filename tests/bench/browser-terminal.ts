import { chromium } from "@playwright/test"
import { findChromium } from "../../scripts/lib/services/chromium.mjs"
import { signIn } from "../e2e/pages"
import { Rewake } from "../support/server"
import { openTerminal, readySession, TERMINAL_ENV } from "../support/terminal"

/** The product's own page in a headless browser, attached to one terminal; null where there is no Chromium. */
export async function openBrowserTerminal() {
  const executablePath = findChromium()
  if (executablePath === null) return null
  const rewake = await Rewake.start({ env: { ...TERMINAL_ENV } })
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] })
  const page = await browser.newPage()
  await signIn(page, rewake.url)
  const sessionId = await readySession(rewake)
  const worker = await openTerminal(rewake, sessionId)
  const { task_id } = await rewake.session(sessionId)
  await page.goto(`${rewake.url}/tasks/${task_id}/sessions/${sessionId}?tab=${worker.id}`)
  const pane = page.getByRole("region", { name: worker.name, exact: true })
  await page.locator(`[data-terminal="${worker.id}"][data-phase="live"]`).waitFor()
  let round = 0
  return {
    /** Until the page has drawn the last of it: the title that follows is set by what draws. */
    async cat(path: string): Promise<number> {
      const mark = `all-of-${++round}`
      await pane.locator(".xterm-screen").click()
      await page.keyboard.type(`cat ${path}; printf '\\033]0;all-of-%s\\007' ${round}`)
      const started = performance.now()
      await page.keyboard.press("Enter")
      await pane.getByText(mark, { exact: true }).waitFor({ timeout: 300_000 })
      return performance.now() - started
    },
    async close() {
      await browser.close()
      await rewake.stop()
    },
  }
}

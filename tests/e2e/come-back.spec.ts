import { expect, type Page, test } from "@playwright/test"
import type { AgentId } from "../../lib/contracts/task"
import type { Rewake } from "../support/server"
import { expectTranscript, openPage, send, transcriptText } from "./pages"
import { useEmptyServer, useSharedServer } from "./use-server"

let rewake: Rewake
const assign = (started: Rewake) => {
  rewake = started
}

const banner = (page: Page, words: string) => page.getByRole("status").filter({ hasText: words })

/** A codeword told, then server, agentctl and agent killed in the middle of the next answer, and only the server started again. */
async function cutOff(page: Page, agent: AgentId): Promise<string> {
  const { task, session } = await rewake.createTask("remember apricot", { agent })
  await rewake.waitForRuns(session.id, 1)
  await openPage(page, `${rewake.url}/tasks/${task.id}/sessions/${session.id}`)
  await send(page, "count 900 40")
  await expectTranscript(page).toContain(" 10 11 ")
  await rewake.kill9()
  rewake.killDaemon()
  await rewake.boot()
  return session.id
}

test.describe("when the server is killed", () => {
  useEmptyServer(assign)

  test("all killed in mid-turn: the page shows the interrupted run, and Continue resumes with memory", async ({ page }) => {
    const sessionId = await cutOff(page, "demo")
    await page.reload()
    await expectTranscript(page).toContain(" 10 11 ")
    const interrupted = banner(page, "This run was interrupted when the server restarted.")
    await expect(interrupted).toBeVisible()
    await expectTranscript(page).toContain("memory: native")
    await interrupted.getByRole("button", { name: "Continue" }).click()
    await rewake.waitForRuns(sessionId, 3)
    await expect(interrupted).toHaveCount(0)
    await send(page, "recall")
    await expect(page.getByText("I remember: apricot")).toBeVisible()
    const log = await rewake.events(sessionId)
    expect(log.filter((event) => event.kind === "run.interrupted")).toHaveLength(1)
    expect(log.filter((event) => event.kind === "message.user")).toHaveLength(4)
  })

  test("an agent that cannot load its session gets the history with the first message; the divider says so", async ({ page }) => {
    await cutOff(page, "demo-inject")
    await expect(banner(page, "This run was interrupted when the server restarted.")).toBeVisible()
    await send(page, "recall")
    await expect(page.getByText("I remember: apricot")).toBeVisible()
    await expectTranscript(page).toContain("memory: injected")
    // What was put in front of it is the agent's to read, not the reader's.
    expect(await transcriptText(page)).not.toContain("EXECUTION HISTORY")
  })

  test("an agent that cannot resume says so, keeps its files, and offers a new session", async ({ page }) => {
    const sessionId = await cutOff(page, "demo-forgetful")
    const gone = banner(page, "This agent doesn't support resuming. Start a new session.")
    await expect(gone).toBeVisible()
    await page.getByRole("tab", { name: "Files" }).click()
    await expect(page.getByRole("tabpanel", { name: "Files" })).toBeVisible()
    await page.getByRole("tab", { name: "Chat" }).click()
    await gone.getByRole("button", { name: "Create new session" }).click()
    await page.waitForURL((url) => /\/sessions\/sess_/.test(url.pathname) && !url.pathname.endsWith(sessionId))
    await send(page, "hello")
    const fresh = page.url().split("/").at(-1) ?? ""
    await rewake.waitForRuns(fresh, 1)
    await expect(gone).toHaveCount(0)
  })
})

test.describe("on one server", () => {
  useSharedServer(assign)

  test("a page opened after the agent has started shows no start that nobody watched", async ({ page }) => {
    const { task, session } = await rewake.createTask("remember apricot")
    await rewake.waitForRuns(session.id, 1)
    await openPage(page, `${rewake.url}/tasks/${task.id}/sessions/${session.id}`)
    await expectTranscript(page).toContain("I will remember apricot")
    await page.evaluate(() => new Promise((painted) => requestAnimationFrame(() => requestAnimationFrame(painted))))
    // Looked at once: a strip that goes by itself has moved everything below it already.
    expect(await banner(page, "this session:").count()).toBe(0)
  })

  test("an unknown address shows an error page with a link to the tasks", async ({ page }) => {
    await page.goto(`${rewake.url}/nowhere`)
    await expect(page.getByRole("heading", { name: "There is no such page" })).toBeVisible()
    await page.getByRole("link", { name: "Back to tasks" }).click()
    await page.waitForURL(/\/tasks/)
  })
})

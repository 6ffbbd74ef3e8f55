import { expect, type Page, test } from "@playwright/test"
import type { AgentId } from "../../lib/contracts/task"
import { Rewake } from "../support/server"
import { send, signIn, transcriptText } from "./pages"

let rewake: Rewake
test.beforeEach(async ({ page }) => {
  rewake = await Rewake.start()
  await signIn(page, rewake.url)
})
test.afterEach(() => rewake.stop())

const banner = (page: Page, words: string) => page.getByRole("status").filter({ hasText: words })

/** A codeword told, then server, agentctl and agent killed in the middle of the next answer, and only the server started again. */
async function cutOff(page: Page, agent: AgentId): Promise<string> {
  const { task, session } = await rewake.createTask("remember apricot", { agent })
  await rewake.waitForRuns(session.id, 1)
  await page.goto(`${rewake.url}/tasks/${task.id}/sessions/${session.id}`)
  await expect(page.getByText("Connected")).toBeVisible()
  await send(page, "count 900 40")
  await expect.poll(() => transcriptText(page)).toContain(" 10 11 ")
  await rewake.kill9()
  rewake.killDaemon()
  await rewake.boot()
  return session.id
}

test("everything dies in mid-turn: the page shows what was said, that it was interrupted, and Continue goes on with the agent that remembers", async ({
  page,
}) => {
  const sessionId = await cutOff(page, "demo")
  await page.reload()
  await expect.poll(() => transcriptText(page)).toContain(" 10 11 ")
  const interrupted = banner(page, "This run was interrupted when the server restarted.")
  await expect(interrupted).toBeVisible()
  await expect.poll(() => transcriptText(page)).toContain("memory: native")
  await interrupted.getByRole("button", { name: "Continue" }).click()
  await rewake.waitForRuns(sessionId, 3)
  await expect(interrupted).toHaveCount(0)
  await send(page, "recall")
  await expect(page.getByText("I remember: apricot")).toBeVisible()
  const log = await rewake.events(sessionId)
  expect(log.filter((event) => event.kind === "run.interrupted")).toHaveLength(1)
  expect(log.filter((event) => event.kind === "message.user")).toHaveLength(4)
})

test("an agent that cannot load its session is given the history with the first message, and the divider says so", async ({ page }) => {
  await cutOff(page, "demo-inject")
  await expect(banner(page, "This run was interrupted when the server restarted.")).toBeVisible()
  await send(page, "recall")
  await expect(page.getByText("I remember: apricot")).toBeVisible()
  await expect.poll(() => transcriptText(page)).toContain("memory: injected")
  // What was put in front of it is the agent's to read, not the reader's.
  expect(await transcriptText(page)).not.toContain("EXECUTION HISTORY")
})

test("an agent that cannot come back at all says so; its files stay in sight, and a new session of the task is one click away", async ({
  page,
}) => {
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

test("an address that leads nowhere says so and leads back", async ({ page }) => {
  await page.goto(`${rewake.url}/nowhere`)
  await expect(page.getByRole("heading", { name: "There is no such page" })).toBeVisible()
  await page.getByRole("link", { name: "Back to tasks" }).click()
  await page.waitForURL(/\/tasks/)
})

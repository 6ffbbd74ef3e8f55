import { expect, test } from "@playwright/test"
import { processStartTime } from "../../lib/host/process-identity"
import { numbers, Rewake } from "../support/server"
import { newTask, signIn, transcriptText } from "./pages"

let rewake: Rewake
test.afterEach(() => rewake.stop())

test("killed in mid-stream, the server comes back and the open page goes on by itself: each number once, the same agent", async ({
  page,
}) => {
  rewake = await Rewake.start()
  await signIn(page, rewake.url)
  const url = await newTask(page, rewake.url, "count 200 50")
  await expect.poll(() => transcriptText(page)).toContain(" 20 21 ")
  const sessionId = url.split("/").at(-1) ?? ""
  const agent = (await rewake.events(sessionId)).find((event) => event.kind === "agent.started")
  const life = processStartTime(agent?.pid ?? 0)

  await rewake.kill9()
  await expect(page.getByText("Reconnecting…")).toBeVisible()
  await rewake.boot()

  await expect(page.getByText("Connected")).toBeVisible()
  await expect.poll(() => transcriptText(page), { timeout: 60_000 }).toContain(numbers(200))
  expect(processStartTime(agent?.pid ?? 0)).toBe(life)
  const text = await transcriptText(page)
  expect(text.match(/\b150\b/g)).toHaveLength(1)
})

test("a permission asked before a restart is answered after it, on the page that stayed open", async ({ page }) => {
  rewake = await Rewake.start()
  await signIn(page, rewake.url)
  await newTask(page, rewake.url, "run echo was-allowed")
  await expect(page.getByRole("button", { name: /Allow once/ })).toBeEnabled()
  await rewake.restart()
  await expect(page.getByText("Connected")).toBeVisible()
  await expect(page.getByRole("button", { name: /Allow once/ })).toBeEnabled()
  await page.getByRole("button", { name: /Allow once/ }).click()
  await expect.poll(() => transcriptText(page)).toContain("Allow once")
  const sessionId = page.url().split("/").at(-1) ?? ""
  const log = await rewake.waitForRuns(sessionId, 1)
  expect(JSON.stringify(log.filter((event) => event.kind === "tool.update"))).toContain("was-allowed")
})

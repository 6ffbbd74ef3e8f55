import { expect, test } from "@playwright/test"
import { processStartTime } from "../../lib/host/process-identity"
import { numbers, type Rewake } from "../support/server"
import { expectTranscript, newTask, openTask, sessionIdIn, transcriptText } from "./pages"
import { useEmptyServer } from "./use-server"

let rewake: Rewake
useEmptyServer((started) => {
  rewake = started
})

test("server killed in mid-stream: the open page continues, each number once, with the same agent", async ({ page }) => {
  const url = await newTask(page, rewake.url, "count 200 30")
  await expectTranscript(page).toContain(" 20 21 ")
  const sessionId = sessionIdIn(url)
  const agent = (await rewake.events(sessionId)).find((event) => event.kind === "agent.started")
  const life = processStartTime(agent?.pid ?? 0)

  await rewake.kill9()
  await expect(page.getByText("Reconnecting…")).toBeVisible()
  await rewake.boot()

  await expect(page.getByText("Connected")).toBeVisible()
  await expectTranscript(page, 60_000).toContain(numbers(200))
  expect(processStartTime(agent?.pid ?? 0)).toBe(life)
  const text = await transcriptText(page)
  expect(text.match(/\b150\b/g)).toHaveLength(1)
})

test("a permission asked before a restart can be answered after it on the open page", async ({ page }) => {
  await openTask(page, rewake, "run echo was-allowed")
  await expect(page.getByRole("button", { name: /Allow once/ })).toBeEnabled()
  await rewake.restart()
  await expect(page.getByText("Connected")).toBeVisible()
  await expect(page.getByRole("button", { name: /Allow once/ })).toBeEnabled()
  await page.getByRole("button", { name: /Allow once/ }).click()
  await expectTranscript(page).toContain("Allow once")
  const sessionId = sessionIdIn(page.url())
  const log = await rewake.waitForRuns(sessionId, 1)
  expect(JSON.stringify(log.filter((event) => event.kind === "tool.update"))).toContain("was-allowed")
})

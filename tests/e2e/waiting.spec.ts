import { expect, test } from "@playwright/test"
import { Rewake } from "../support/server"
import { waitUntil } from "../support/wait-until"
import { expectTranscript, openTask, send } from "./pages"
import { addSession, useSharedServer } from "./use-server"

test.describe("as many agents run as may", () => {
  let rewake: Rewake
  useSharedServer((started) => (rewake = started), { env: { MAX_RUNNING_AGENTS: "1" } })

  test("a new session shows its place in line and its message, and is answered when its turn comes", async ({ page }) => {
    const busy = await rewake.createTask("hang")
    await rewake.waitForEvent(busy.session.id, (event) => event.kind === "message.delta", "the agent at work")
    await openTask(page, rewake, "remember quince")
    const banner = page.getByText("Waiting for a free agent: next in line.")
    await expect(banner).toBeVisible()
    await expect(page.getByText("remember quince").last()).toBeVisible()
    await expect(page.getByText("Nothing was said yet")).toHaveCount(0)
    await page.setViewportSize({ width: 390, height: 800 })
    await expect(banner).toBeInViewport()

    await rewake.api("POST", `/api/v1/sessions/${busy.session.id}/cancel`, {})
    await expectTranscript(page).toContain("remember quince")
    await expect(banner).toHaveCount(0)
  })
})

test("a session of a server that is away says so, keeps what is sent to it, and goes on when that server is back", async ({
  page,
  context,
}) => {
  const first = await Rewake.start({ database: "postgresql", durations: { leaseMs: 3_000, leaseRenewalMs: 500, sweepMs: 200 } })
  const second = await first.serverElsewhere()
  try {
    const { task, session } = await first.createTask("remember medlar")
    await first.waitForRuns(session.id, 1)
    await first.kill9()
    await addSession(context, second)
    await page.goto(`${second.url}/tasks/${task.id}/sessions/${session.id}`)
    const banner = page.getByText("This session is on another server, which does not answer.")
    await expect(banner).toBeVisible()
    await send(page, "recall")
    const queue = () => second.api<{ prompts: unknown[] }>("GET", `/api/v1/sessions/${session.id}/queue`)
    await waitUntil(async () => (await queue()).body.prompts.length === 1, "the message in the queue")
    await expect(banner).toBeVisible()

    await first.boot()
    await expect(banner).toHaveCount(0)
    expect((await second.waitForRuns(session.id, 2)).filter((event) => event.kind === "agent.started")).toHaveLength(1)
    await expectTranscript(page).toContain("medlar")
  } finally {
    await second.stop()
    await first.stop()
  }
})

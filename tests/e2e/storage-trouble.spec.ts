import { copyFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "@playwright/test"
import { Rewake } from "../support/server"
import { SmallDisk } from "../support/small-disk"
import { readTemplate } from "../support/template"
import { expectTranscript, openTask, send } from "./pages"
import { addSession } from "./use-server"

let disk: SmallDisk
let rewake: Rewake
test.beforeAll(async () => {
  disk = new SmallDisk(8)
  const file = join(disk.path, "rewake.db")
  copyFileSync(readTemplate().file, file)
  rewake = await Rewake.start({ env: { DATABASE_URL: `file:${file}` }, durations: { storageCheckMs: 500 } })
})
test.afterAll(async () => {
  await rewake?.stop()
  disk?.unmount()
})
test.beforeEach(({ context }) => addSession(context, rewake))

/** Larger than what the database may have kept room for. */
const MESSAGE = `recall ${"x".repeat(60_000)}`

test("a full disk is one banner; the message waits in the browser through a reload, and is sent once there is room", async ({ page }) => {
  await openTask(page, rewake, "remember plum")
  await expectTranscript(page).toContain("plum")
  const banner = page.getByText("The server's disk is full")
  await expect(banner).toHaveCount(0)

  disk.fill()
  await send(page, MESSAGE)
  await expect(banner).toBeVisible()
  await expect(page.getByText("Not sent yet:")).toBeVisible()
  await page.reload()
  await expect(banner).toHaveCount(1)
  await page.setViewportSize({ width: 390, height: 800 })
  await expect(banner).toBeInViewport()
  await expect(page.getByText("Not sent yet:")).toBeVisible()

  disk.free()
  await expect(banner).toHaveCount(0)
  await expect(page.getByText("Not sent yet:")).toHaveCount(0)
  const sessionId = /sess_\w+/.exec(page.url())?.[0] ?? ""
  const log = await rewake.waitForRuns(sessionId, 2)
  expect(log.filter((event) => event.kind === "message.user" && event.content === MESSAGE)).toHaveLength(1)
})

test("a page that asks for nothing shows the banner of a full disk too, and drops it once there is room", async ({ page }) => {
  await openTask(page, rewake, "remember medlar")
  await expectTranscript(page).toContain("medlar")
  const banner = page.getByText("The server's disk is full")
  const refused: string[] = []
  page.on("response", (response) => response.status() === 503 && refused.push(new URL(response.url()).pathname))
  disk.fill()
  await expect(banner).toBeVisible()
  expect(refused.filter((path) => path !== "/api/ready")).toEqual([])
  disk.free()
  await expect(banner).toHaveCount(0)
})

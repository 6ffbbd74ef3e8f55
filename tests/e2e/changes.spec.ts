import { execFileSync } from "node:child_process"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, type Page, test } from "@playwright/test"
import type { Rewake } from "../support/server"
import { expectTranscript, openPage, openTask, sessionIdIn, taskIdIn } from "./pages"
import { addSession, useSharedServer } from "./use-server"

let rewake: Rewake
useSharedServer((started) => {
  rewake = started
})

const tab = (page: Page, name: RegExp) => page.getByRole("tab", { name })

async function workspaceOf(url: string): Promise<string> {
  const sessionId = sessionIdIn(url)
  await rewake.waitForRuns(sessionId, 1)
  const { body } = await rewake.api<{ worktree_path: string }>("GET", `/api/v1/sessions/${sessionId}/status`)
  return body.worktree_path
}
const git = (cwd: string, ...args: string[]) =>
  execFileSync("git", ["-c", "user.name=T", "-c", "user.email=t@example.com", ...args], { cwd, encoding: "utf8" })

test("the open changes follow the agent's edits; a comment on a line reaches it", async ({ page }) => {
  const url = await openTask(page, rewake, "write notes.txt first line")
  await expect(tab(page, /^Changes 1/)).toBeVisible()
  await tab(page, /^Changes/).click()
  const lines = page.getByRole("region", { name: "Changed lines" })
  await expect(lines.getByText("first line")).toBeVisible()

  // The agent goes on, and nobody reloads.
  await rewake.append(taskIdIn(url), "write second.txt from the agent")
  await expect(lines.getByText("from the agent")).toBeVisible()
  await expect(tab(page, /^Changes 2/)).toBeVisible()

  await lines.getByText("first line").hover()
  await lines.getByRole("button", { name: "Comment on line 1", exact: true }).first().click()
  const editor = page.getByRole("textbox", { name: "Comment on notes.txt, line 1" })
  await editor.fill("Say hello first.")
  await editor.press("Control+Enter")
  const draft = page.getByRole("article", { name: "Draft comment on line 1" })
  await expect(draft).toContainText("Say hello first.")

  await page.reload()
  await expect(draft).toContainText("Say hello first.")
  await page.getByRole("button", { name: "Send 1 comment to the agent" }).click()
  await expect(page.getByRole("article", { name: "Sent comment on line 1" })).toBeVisible()
  await expect(page.getByRole("button", { name: /^Send/ })).toHaveCount(0)
  await tab(page, /^Chat/).click()
  await expectTranscript(page).toContain("notes.txt, line 1 > first line Say hello first.")
  await expectTranscript(page).toContain("I have seen 3 messages from you")
})

test("5000 changed lines are virtualized and keep the scroll position while the agent edits above", async ({ page }) => {
  const url = await openTask(page, rewake, "remember changes")
  const root = await workspaceOf(url)
  const text = (word: string) => Array.from({ length: 5000 }, (_, i) => `${word} ${i + 1}\n`).join("")
  writeFileSync(join(root, "long.txt"), text("line"))
  writeFileSync(join(root, "above.txt"), "one\n")
  git(root, "add", "-A")
  git(root, "commit", "-q", "-m", "base")
  writeFileSync(join(root, "long.txt"), text("changed"))
  writeFileSync(join(root, "above.txt"), "two\n")
  await tab(page, /^Changes/).click()
  const lines = page.getByRole("region", { name: "Changed lines" })
  // The page may have looked before the last write: it would then show another change of the same file, folded as well.
  const files = page.getByRole("navigation", { name: "Changed files" })
  await expect(files.getByRole("button", { name: "modified long.txt +5000 −5000" })).toBeVisible()
  // Its lines arrive above the button, and move it.
  await expect(lines.getByText("two", { exact: true })).toBeVisible()
  await lines.getByRole("button", { name: "Show anyway" }).first().click()
  await expect(lines.getByText("line 10", { exact: true })).toBeVisible()
  expect(await lines.locator("[data-index]").count()).toBeLessThan(150)
  await lines.evaluate((element) => element.scrollTo(0, 40_000))
  await expect.poll(() => lines.evaluate((element) => element.scrollTop)).toBeGreaterThan(39_000)
  const place = () =>
    lines.evaluate((element) => {
      const top = element.getBoundingClientRect().top + 60
      const row = document.elementFromPoint(element.getBoundingClientRect().left + 200, top)
      return row?.closest("[data-index]")?.textContent
    })
  const before = await place()
  expect(before).toMatch(/line \d+/)
  writeFileSync(join(root, "above.txt"), Array.from({ length: 40 }, (_, i) => `more ${i}\n`).join(""))
  await expect(files.getByText("+40")).toBeVisible()
  await expect.poll(place).toBe(before)

  // J and K lead from file to file.
  const current = files.locator("[aria-current=true]")
  await page.keyboard.press("k")
  await page.keyboard.press("k")
  await expect(current).toContainText("above.txt")
  await page.keyboard.press("j")
  await expect(current).toContainText("long.txt")

  // Folded and opened again, side by side, remembered over a reload.
  await page.getByRole("button", { name: "Split" }).click()
  await page.reload()
  await expect(page.getByRole("button", { name: "Split" })).toHaveAttribute("aria-pressed", "true")
})

test("files are browsed, read, uploaded and downloaded, and replacing one asks first", async ({ page }) => {
  const url = await openTask(page, rewake, "write readme.md # Hello")
  const root = await workspaceOf(url)
  mkdirSync(join(root, "src"))
  writeFileSync(join(root, "src/app.ts"), "export const answer = 42\n")
  await tab(page, /^Files/).click()
  await page.getByRole("treeitem", { name: /src/ }).click()
  await page.getByRole("treeitem", { name: /app\.ts/ }).click()
  await expect(page.getByLabel("Content of src/app.ts")).toContainText("export const answer = 42")
  writeFileSync(join(root, "src/app.ts"), "export const answer = 43\n")
  await expect(page.getByLabel("Content of src/app.ts")).toContainText("answer = 43")

  const bytes = Buffer.from(Array.from({ length: 5000 }, (_, i) => i % 256))
  const upload = () =>
    page
      .getByRole("tabpanel", { name: "Files" })
      .locator("input[type=file]")
      .setInputFiles({ name: "data.bin", mimeType: "application/octet-stream", buffer: bytes })
  await upload()
  await page.getByRole("treeitem", { name: /data\.bin/ }).click()
  await expect(page.getByText("A binary file of 5 KB.")).toBeVisible()
  expect(readFileSync(join(root, "src/data.bin")).equals(bytes)).toBe(true)
  const download = page.waitForEvent("download")
  await page.getByRole("link", { name: "Download" }).click()
  expect(readFileSync(await (await download).path()).equals(bytes)).toBe(true)

  writeFileSync(join(root, "src/data.bin"), "the agent's")
  await upload()
  const dialog = page.getByRole("dialog", { name: "Replace this file?" })
  await dialog.getByRole("button", { name: "Keep it" }).click()
  expect(readFileSync(join(root, "src/data.bin"), "utf8")).toBe("the agent's")
  await upload()
  await dialog.getByRole("button", { name: "Replace" }).click()
  await expect(page.getByText("uploaded")).toBeVisible()
  expect(readFileSync(join(root, "src/data.bin")).equals(bytes)).toBe(true)

  // Dropped on a folder; a picture is shown.
  const picture = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
  const dropped = await page.evaluateHandle((base64) => {
    const transfer = new DataTransfer()
    transfer.items.add(new File([Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))], "dot.png", { type: "image/png" }))
    return transfer
  }, picture)
  await page.getByRole("tree", { name: "Files of the workspace" }).dispatchEvent("drop", { dataTransfer: dropped })
  await page.getByRole("treeitem", { name: /dot\.png/ }).click()
  await expect.poll(() => page.getByRole("img", { name: "src/dot.png" }).evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(1)
})

test("on a phone a tap on a line opens the comment, and nothing is wider than the screen", async ({ browser }) => {
  const context = await browser.newContext({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true })
  const page = await context.newPage()
  await addSession(context, rewake)
  const { task, session } = await rewake.createTask("write notes.txt first line")
  await rewake.waitForRuns(session.id, 1)
  await openPage(page, `${rewake.url}/tasks/${task.id}/sessions/${session.id}?tab=changes`)
  await page.getByLabel("Changed lines", { exact: true }).getByText("first line").tap()
  await page.getByRole("textbox", { name: "Comment on notes.txt, line 1" }).fill("On the go.")
  await page.getByRole("button", { name: "Add comment" }).tap()
  await expect(page.getByRole("article", { name: "Draft comment on line 1" })).toBeVisible()
  await expect(page.getByRole("button", { name: "Split" })).toBeHidden()
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390)
  await context.close()
})

test("files and changes are available as soon as the executor is, while the agent hangs", async ({ page }) => {
  await openTask(page, rewake, "hang")
  await expectTranscript(page).toContain("I will not finish this")
  await tab(page, /^Files/).click()
  await expect(page.getByText("Nothing here yet.")).toBeVisible()
  await tab(page, /^Changes/).click()
  await expect(page.getByText("No changes yet")).toBeVisible()
})

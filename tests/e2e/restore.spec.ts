import { randomBytes } from "node:crypto"
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, type Page, test } from "@playwright/test"
import { Rewake } from "../support/server"
import { waitUntil } from "../support/wait-until"
import { newTask, signIn, transcriptText } from "./pages"

/** Long enough to say two things in a row, and the reaper looks every second. */
const env = {
  APPEND_CHAT_TASK_EXPIRE_HOURS: String(3 / 3600),
  APPEND_CODE_TASK_EXPIRE_HOURS: String(3 / 3600),
  REAPER_INTERVAL_SECONDS: "1",
}

let rewake: Rewake
test.beforeEach(async ({ page }) => {
  rewake = await Rewake.start({ env: { ...env } })
  await signIn(page, rewake.url)
})
test.afterEach(() => rewake.stop())

const composer = (page: Page) => page.getByRole("textbox", { name: /^Message to/ })
const dialog = (page: Page) => page.getByRole("dialog", { name: "Continue this task?" })
const strip = (page: Page) => page.getByRole("status").filter({ hasText: "This task is asleep." })
const said = async (sessionId: string, text: string) =>
  (await rewake.events(sessionId)).filter((event) => event.kind === "message.user" && event.content === text)

/** A task that knows a codeword, its executor archived and gone. */
async function putAway(page: Page, work: (folder: string) => void = () => {}) {
  const url = await newTask(page, rewake.url, "remember walnut")
  const sessionId = url.split("/").at(-1) ?? ""
  await rewake.waitForRuns(sessionId, 1)
  const folder = ((await rewake.api("GET", `/api/v1/sessions/${sessionId}/status`)).body as { worktree_path: string }).worktree_path
  work(folder)
  await rewake.waitForEvent(sessionId, (event) => event.kind === "executor.deleted", "the executor to be put away")
  await waitUntil(() => !existsSync(folder), "the folder to be gone")
  await expect(strip(page)).toBeVisible()
  return { url, sessionId, folder }
}

async function write(page: Page, message: string) {
  await composer(page).fill(message)
  await composer(page).press("Enter")
}

/** The archive's file, out of the way and back. */
function archiveFile() {
  const store = join(rewake.dataDir, "archives")
  const [name] = readdirSync(store, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  if (!name) throw new Error("There is no archive.")
  return join(name.parentPath, name.name)
}

test("continue: the dialog says what comes back, the files and the memory come, and the waiting message is answered", async ({ page }) => {
  const { sessionId, folder } = await putAway(page)
  await expect(strip(page)).toContainText("Its files are in the archive of")
  expect(await transcriptText(page)).toContain("I will remember walnut.")
  await expect(page.getByRole("log").getByText(/Put away: \d+ files?/)).toBeVisible()
  await expect(page.getByRole("navigation", { name: "Tasks" }).getByText("asleep · can be continued")).toBeVisible()

  await write(page, "recall")
  await expect(dialog(page)).toBeVisible()
  await expect(dialog(page)).toContainText("This chat task was last active")
  await expect(dialog(page)).toContainText("Chat tasks are kept ready for 3 s")
  await expect(dialog(page).getByRole("list", { name: "What comes back" })).toContainText(/Files from the archive of .*\d+ files? · /)
  await expect(dialog(page).getByRole("list", { name: "What comes back" })).toContainText("native")
  await expect(dialog(page).getByRole("region", { name: "Will be sent afterwards" })).toContainText("recall")
  expect(await said(sessionId, "recall")).toHaveLength(0)

  await dialog(page).getByRole("button", { name: "Continue chat" }).click()
  await expect(dialog(page)).toHaveCount(0)
  await expect(composer(page)).toBeFocused()
  await expect(page.getByRole("log").getByText(/I remember: walnut/)).toBeVisible()
  expect(existsSync(folder)).toBe(true)
  expect(await said(sessionId, "recall")).toHaveLength(1)

  const receipt = page.getByRole("log").getByRole("button", { name: /^Restored .* memory: native · \d+ files? verified/ })
  await receipt.click()
  await expect(page.getByRole("log")).toContainText("from an archive of")
  await page.getByRole("tab", { name: "Timeline" }).click()
  const timeline = page.getByRole("tabpanel", { name: "Timeline" })
  await expect(timeline.getByRole("row", { name: /put away \d+ files?/ })).toBeVisible()
  await expect(timeline.getByRole("row", { name: /files back \d+ files? verified/ })).toBeVisible()
  await expect(timeline.getByRole("img", { name: /^archives: put away/ })).toBeVisible()
})

test("by keyboard: focus is on Continue chat, stays inside, and Esc gives the draft back with nothing sent", async ({ page }) => {
  const { sessionId } = await putAway(page)
  const before = await rewake.events(sessionId)
  await write(page, "recall")
  const go = dialog(page).getByRole("button", { name: "Continue chat" })
  await expect(go).toBeFocused()
  await page.keyboard.press("Tab")
  await expect(dialog(page).getByRole("button", { name: "New chat" })).toBeFocused()
  await page.keyboard.press("Tab")
  await expect(go).toBeFocused()
  await page.keyboard.press("Escape")
  await expect(dialog(page)).toHaveCount(0)
  await expect(composer(page)).toBeFocused()
  await expect(composer(page)).toHaveValue("recall")
  await page.reload()
  await expect(composer(page)).toHaveValue("recall")
  await expect(dialog(page)).toHaveCount(0)
  expect(await rewake.events(sessionId)).toEqual(before)

  await composer(page).press("Enter")
  await expect(go).toBeFocused()
  await page.keyboard.press("Enter")
  await expect(page.getByRole("log").getByText(/I remember: walnut/)).toBeVisible()
  expect(await said(sessionId, "recall")).toHaveLength(1)
})

test("new chat: the message is in the composer of a new task, and nothing is left of it in the old one", async ({ page }) => {
  const { url, sessionId } = await putAway(page)
  await write(page, "remember chestnut")
  await dialog(page).getByRole("button", { name: "New chat" }).click()
  await page.waitForURL(/\/tasks\/new/)
  await expect(page.getByRole("textbox", { name: /what should be done/i })).toHaveValue("remember chestnut")
  await page.goto(url)
  await expect(strip(page)).toBeVisible()
  await expect(composer(page)).toHaveValue("")
  await expect(dialog(page)).toHaveCount(0)
  expect(await said(sessionId, "remember chestnut")).toHaveLength(0)
})

test("a damaged archive is refused in one sentence; with the right one back, Retry brings the task back and sends the message once", async ({
  page,
}) => {
  const { sessionId } = await putAway(page)
  const file = archiveFile()
  const good = readFileSync(file)
  writeFileSync(file, Buffer.concat([good.subarray(0, good.length >> 1), Buffer.alloc(good.length - (good.length >> 1), 7)]))
  await write(page, "recall")
  await dialog(page).getByRole("button", { name: "Continue chat" }).click()
  await expect(dialog(page).getByRole("alert")).toContainText("The archive is damaged")
  await expect(dialog(page).getByRole("alert")).toContainText("Your message is kept")
  await expect(dialog(page).getByRole("region", { name: "Will be sent afterwards" })).toContainText("recall")
  await expect(dialog(page).getByRole("button", { name: "Retry" })).toBeFocused()

  writeFileSync(file, good)
  await dialog(page).getByRole("button", { name: "Retry" }).click()
  await expect(dialog(page)).toHaveCount(0)
  await expect(page.getByRole("log").getByText(/I remember: walnut/)).toBeVisible()
  expect(await said(sessionId, "recall")).toHaveLength(1)
})

test("a failure survives a reload: the strip says it, keeps the message queued, and its Retry goes on", async ({ page }) => {
  const { sessionId } = await putAway(page)
  const file = archiveFile()
  renameSync(file, `${file}.away`)
  await write(page, "recall")
  await dialog(page).getByRole("button", { name: "Continue chat" }).click()
  await expect(dialog(page).getByRole("alert")).toContainText("not where it was put")
  await page.reload()
  const trouble = page.getByRole("status").filter({ hasText: "This task could not be brought back yet." })
  await expect(trouble).toBeVisible()
  await expect(page.getByRole("region", { name: "Queue" })).toContainText("recall")
  renameSync(`${file}.away`, file)
  await trouble.getByRole("button", { name: "Retry" }).click()
  await expect(page.getByRole("log").getByText(/I remember: walnut/)).toBeVisible()
  expect(await said(sessionId, "recall")).toHaveLength(1)
})

test("two tabs: what one continues the other sees, and its own dialog resolves by itself, its message sent once", async ({ page }) => {
  const { url, sessionId } = await putAway(page)
  const other = await page.context().newPage()
  await other.goto(url)
  await expect(strip(other)).toBeVisible()
  await write(other, "remember fig")
  await expect(dialog(other)).toBeVisible()
  await write(page, "recall")
  await dialog(page).getByRole("button", { name: "Continue chat" }).click()
  await expect(dialog(page)).toHaveCount(0)
  await expect(dialog(other)).toHaveCount(0)
  await expect(strip(other)).toHaveCount(0)
  for (const tab of [page, other]) await expect(tab.getByRole("log").getByText(/I will remember fig/)).toBeVisible()
  expect(await said(sessionId, "recall")).toHaveLength(1)
  expect(await said(sessionId, "remember fig")).toHaveLength(1)
})

test("opening a task that was put away wakes nothing; Continue asks, also without a message; a message that waits survives a reload", async ({
  page,
}) => {
  const { sessionId } = await putAway(page)
  const before = await rewake.events(sessionId)
  const resumes: string[] = []
  page.on("request", (request) => request.url().endsWith("/resume") && resumes.push(request.url()))
  await page.reload()
  await expect(strip(page)).toContainText("Its files are in the archive of")
  expect(resumes).toEqual([])
  expect(await rewake.events(sessionId)).toEqual(before)

  await write(page, "recall")
  await expect(dialog(page)).toBeVisible()
  await page.reload()
  await expect(dialog(page).getByRole("region", { name: "Will be sent afterwards" })).toContainText("recall")
  await page.keyboard.press("Escape")
  await composer(page).fill("")

  await strip(page).getByRole("button", { name: "Continue" }).click()
  await expect(dialog(page)).toBeVisible()
  await expect(dialog(page).getByRole("region", { name: "Will be sent afterwards" })).toHaveCount(0)
  await dialog(page).getByRole("button", { name: "Continue chat" }).click()
  await expect(dialog(page)).toHaveCount(0)
  await rewake.waitForEvent(sessionId, (event) => event.kind === "recovery.receipt" && event.receipt_kind === "restore", "the receipt")
  await expect(page.getByRole("log").getByRole("button", { name: /^Restored/ })).toBeVisible()
})

test("a browser that is opened again while files come back shows how far they are, and the message is answered", async ({ page }) => {
  const { sessionId } = await putAway(page, (folder) => {
    for (let n = 0; n < 20; n++) writeFileSync(join(folder, `${n}.bin`), randomBytes(2 ** 20))
  })

  // The daemon stands still from the first sign of progress on: as slow as a restore can be.
  const { pid } = rewake.daemon()
  const stopped = new Promise<void>((resolve) =>
    rewake.socket().once("session.restore_progress", () => {
      process.kill(pid, "SIGSTOP")
      resolve()
    }),
  )
  try {
    await write(page, "recall")
    await dialog(page).getByRole("button", { name: "Continue chat" }).click()
    await stopped
    await expect(dialog(page).getByRole("progressbar", { name: "Restoring" })).toBeVisible()
    await page.reload()
    const waking = page.getByRole("status").filter({ hasText: "Waking this session:" })
    await expect(waking).toContainText(/(fetching the archive|restoring files|verifying files).* of .*B/)
    await expect(waking.getByRole("progressbar", { name: "Restoring" })).toBeVisible()
    await expect(page.getByRole("region", { name: "Queue" })).toContainText("recall")
  } finally {
    process.kill(pid, "SIGCONT")
  }
  await expect(page.getByRole("log").getByText(/I remember: walnut/)).toBeVisible({ timeout: 60_000 })
  expect(await said(sessionId, "recall")).toHaveLength(1)
})

test("a session is exported from its menu, deleted, and imported from the file again", async ({ page }, info) => {
  await newTask(page, rewake.url, "remember plum")
  await expect(page.getByText("I will remember plum.")).toBeVisible()
  await page.getByRole("button", { name: "Actions for remember plum" }).last().click()
  const download = page.waitForEvent("download")
  await page.getByRole("menuitem", { name: "Export" }).click()
  const file = info.outputPath("session.tar")
  await (await download).saveAs(file)
  await page.getByRole("button", { name: "Actions for remember plum" }).last().click()
  await page.getByRole("menuitem", { name: /delete/i }).click()
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click()
  await expect(page.getByText("No tasks yet.")).toBeVisible()

  await page.keyboard.press("Control+k")
  await page.getByRole("option", { name: "Import session…" }).click()
  const importing = page.getByRole("dialog", { name: "Import a session" })
  await importing.getByLabel("Choose file").setInputFiles(file)
  await importing.getByRole("button", { name: "Import" }).click()
  const imported = page.getByRole("dialog", { name: "Session imported" })
  await expect(imported).toContainText(/\d+ events were read/)
  await imported.getByRole("button", { name: "Open task" }).click()
  await expect(page.getByRole("log").getByText(/Imported from another server: \d+ events/)).toBeVisible()
  await expect(page.getByText("I will remember plum.")).toBeVisible()
})

test("an admin sees what is kept, what is due and what failed with its reason", async ({ page }) => {
  await putAway(page)
  await page.goto(`${rewake.url}/admin/archives`)
  await expect(page.getByRole("region", { name: "Kept" }).getByRole("row", { name: /remember walnut/ })).toContainText(/· \d+ files?/)
  await expect(page.getByRole("region", { name: "Due to be put away" })).toContainText("No task has expired.")

  renameSync(join(rewake.dataDir, "archives"), join(rewake.dataDir, "archives.away"))
  writeFileSync(join(rewake.dataDir, "archives"), "in the way")
  const { session } = await rewake.createTask("remember sorrel")
  await rewake.waitForEvent(session.id, (event) => event.kind === "archive.failed", "the failure")
  const due = page.getByRole("region", { name: "Due to be put away" }).getByRole("row", { name: /remember sorrel/ })
  await expect(due).toContainText(/failed once, tried again .*its executor is kept/)
  await expect(page.getByRole("region", { name: "Failed" }).getByRole("row", { name: /remember sorrel/ })).toBeVisible()
})

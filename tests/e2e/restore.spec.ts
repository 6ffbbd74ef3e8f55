import { randomBytes } from "node:crypto"
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, type Page, test } from "@playwright/test"
import { archiveTask, expireTask } from "../support/expiry"
import type { Rewake } from "../support/server"
import { waitUntil } from "../support/wait-until"
import { expectNoDialog, openPage, openTask, sessionIdIn, taskIdIn, taskRow, transcriptText } from "./pages"
import { useEmptyServer, useSharedServer } from "./use-server"

let rewake: Rewake
const assign = (started: Rewake) => {
  rewake = started
}

const composer = (page: Page) => page.getByRole("textbox", { name: /^Message to/ })
const dialog = (page: Page) => page.getByRole("dialog", { name: "Continue this task?" })
const strip = (page: Page) => page.getByRole("status").filter({ hasText: "This task is asleep." })
const said = async (sessionId: string, text: string) =>
  (await rewake.events(sessionId)).filter((event) => event.kind === "message.user" && event.content === text)

/** A task that was told to remember a word, its executor archived and deleted. */
async function archivedTask(page: Page, word: string, work: (folder: string) => void = () => {}) {
  const url = await openTask(page, rewake, `remember ${word}`)
  const sessionId = sessionIdIn(url)
  await rewake.waitForRuns(sessionId, 1)
  const folder = ((await rewake.api("GET", `/api/v1/sessions/${sessionId}/status`)).body as { worktree_path: string }).worktree_path
  work(folder)
  await archiveTask(rewake, taskIdIn(url), sessionId)
  await waitUntil(() => !existsSync(folder), "the folder to be gone")
  await expect(strip(page)).toBeVisible()
  return { url, sessionId, folder }
}

async function write(page: Page, message: string) {
  await composer(page).fill(message)
  await composer(page).press("Enter")
}

async function archiveFileOf(sessionId: string): Promise<string> {
  const created = (await rewake.events(sessionId)).find((event) => event.kind === "archive.created")
  const store = join(rewake.dataDir, "archives")
  const [name] = readdirSync(store).filter((entry) => created?.kind === "archive.created" && entry.startsWith(`${created.archive_id}.`))
  if (!name) throw new Error(`There is no archive of ${sessionId}.`)
  return join(store, name)
}

test.describe("on one server", () => {
  useSharedServer(assign)

  test("continue: the dialog lists what is restored; files and memory are, and the message is answered", async ({ page }) => {
    const { sessionId, folder } = await archivedTask(page, "walnut", (folder) => {
      writeFileSync(join(folder, ".gitignore"), "node_modules/\n*.log\n")
      mkdirSync(join(folder, "node_modules"))
      for (const name of ["a.js", "b.js"]) writeFileSync(join(folder, "node_modules", name), "x".repeat(1024))
      writeFileSync(join(folder, "<b>bold<b>\u202e.log"), "x")
      symlinkSync("/etc/hostname", join(folder, "outward"))
    })
    await expect(strip(page)).toContainText("Its files are in the archive of")
    expect(await transcriptText(page)).toContain("I will remember walnut.")
    await expect(page.getByRole("log").getByText(/Put away: \d+ files?, .*, 3 not archived/)).toBeVisible()
    await expect(taskRow(page, "remember walnut")).toContainText("asleep · can be continued")

    await write(page, "recall")
    await expect(dialog(page)).toBeVisible()
    await expect(dialog(page)).toContainText("This chat task was last active")
    await expect(dialog(page)).toContainText("Chat tasks are kept ready for 2 hours")
    await expect(dialog(page).getByRole("list", { name: "What comes back" })).toContainText(/Files from the archive of .*\d+ files? · /)
    await expect(dialog(page).getByRole("list", { name: "What comes back" })).toContainText("native")
    const items = dialog(page).getByRole("listitem")
    await expect(items.filter({ hasText: "Ignored by git" })).toContainText("<b>bold<b>\\u202e.log, node_modules/ (2 files)")
    await expect(items.filter({ hasText: "Ignored by git" })).toContainText("not archived, 2 KB")
    await expect(items.filter({ hasText: "Links out of the workspace" })).toContainText("outward")
    await expect(dialog(page).getByRole("region", { name: "Will be sent afterwards" })).toContainText("recall")
    expect(await said(sessionId, "recall")).toHaveLength(0)

    await dialog(page).getByRole("button", { name: "Continue chat" }).click()
    await expect(dialog(page)).toHaveCount(0)
    await expect(composer(page)).toBeFocused()
    await expect(page.getByRole("log").getByText(/I remember: walnut/)).toBeVisible()
    expect(existsSync(folder)).toBe(true)
    expect(await said(sessionId, "recall")).toHaveLength(1)

    const receipt = page.getByRole("log").getByRole("button", { name: /^Restored .* memory: native · \d+ files? verified, 3 not archived/ })
    await receipt.click()
    await expect(page.getByRole("log")).toContainText("from an archive of")
    await expect(page.getByRole("log")).toContainText("Not archived: Ignored by git")
    await expect(page.getByRole("log")).toContainText("node_modules/ (2 files)")
    await page.getByRole("tab", { name: "Timeline" }).click()
    const timeline = page.getByRole("tabpanel", { name: "Timeline" })
    await expect(timeline.getByRole("row", { name: /put away \d+ files?/ })).toBeVisible()
    await expect(timeline.getByRole("row", { name: /files back \d+ files? verified/ })).toBeVisible()
    await expect(timeline.getByRole("img", { name: /^archives: put away/ })).toBeVisible()
  })

  test("by keyboard: focus starts on Continue chat and stays inside; Esc returns the draft unsent", async ({ page }) => {
    const { sessionId } = await archivedTask(page, "almond")
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
    await expect(page.getByRole("log").getByText(/I remember: almond/)).toBeVisible()
    expect(await said(sessionId, "recall")).toHaveLength(1)
  })

  test("new chat: the message moves to the composer of a new task and leaves the old one", async ({ page }) => {
    const { url, sessionId } = await archivedTask(page, "hazelnut")
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

  test("a damaged archive is refused; after its repair, Retry restores and sends the message once", async ({ page }) => {
    const { sessionId } = await archivedTask(page, "pecan")
    const file = await archiveFileOf(sessionId)
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
    await expect(page.getByRole("log").getByText(/I remember: pecan/)).toBeVisible()
    expect(await said(sessionId, "recall")).toHaveLength(1)
  })

  test("a failed restore survives a reload: the message stays queued, and Retry restores", async ({ page }) => {
    const { sessionId } = await archivedTask(page, "cashew")
    const file = await archiveFileOf(sessionId)
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
    await expect(page.getByRole("log").getByText(/I remember: cashew/)).toBeVisible()
    expect(await said(sessionId, "recall")).toHaveLength(1)
  })

  test("two tabs: a restore in one closes the dialog of the other and sends its message once", async ({ page }) => {
    const { url, sessionId } = await archivedTask(page, "pistachio")
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

  test("opening an archived task starts nothing; Continue asks; a waiting message survives a reload", async ({ page }) => {
    const { sessionId } = await archivedTask(page, "macadamia")
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

  test("a reload during a restore shows its progress, and the message is answered", async ({ page }) => {
    const { sessionId } = await archivedTask(page, "coconut", (folder) => {
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
    await expect(page.getByRole("log").getByText(/I remember: coconut/)).toBeVisible({ timeout: 60_000 })
    expect(await said(sessionId, "recall")).toHaveLength(1)
  })

  test("an exported and deleted session can be imported from its file", async ({ page }, info) => {
    const url = await openTask(page, rewake, "remember plum")
    await expect(page.getByText("I will remember plum.")).toBeVisible()
    await page.getByRole("button", { name: "Actions for remember plum" }).last().click()
    const download = page.waitForEvent("download")
    await page.getByRole("menuitem", { name: "Export" }).click()
    const file = info.outputPath("session.tar")
    await (await download).saveAs(file)
    await page.getByRole("button", { name: "Actions for remember plum" }).last().click()
    await page.getByRole("menuitem", { name: /delete/i }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click()
    await expectNoDialog(page)
    await expect(taskRow(page, "remember plum")).toHaveCount(0)
    expect((await rewake.api("GET", `/api/v1/tasks/${taskIdIn(url)}`)).status).toBe(404)

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
})

test.describe("on a server with no other task", () => {
  useEmptyServer(assign)

  test("an admin sees expired, failed and kept archives; a click archives what has expired", async ({ page }) => {
    await archivedTask(page, "acorn")
    await openPage(page, `${rewake.url}/admin/archives`)
    const rowIn = (region: string, title: string) => page.getByRole("region", { name: region }).getByRole("row", { name: title })
    await expect(rowIn("Kept", "remember acorn")).toContainText(/· \d+ files?/)
    await expect(page.getByRole("region", { name: "Expired" })).toContainText("No task has expired.")

    const store = join(rewake.dataDir, "archives")
    renameSync(store, `${store}.away`)
    writeFileSync(store, "in the way")
    const { task, session } = await rewake.createTask("remember sorrel")
    await rewake.waitForRuns(session.id, 1)
    await expireTask(rewake, task.id)
    const archiveNow = page.getByRole("button", { name: "Archive expired now" })
    await expect(rowIn("Expired", "remember sorrel")).toContainText("goes in the next round")
    await archiveNow.click()
    await expect(rowIn("Expired", "remember sorrel")).toContainText(/failed once, tried again .*its executor is kept/)
    await expect(rowIn("Failed", "remember sorrel")).toBeVisible()

    rmSync(store)
    renameSync(`${store}.away`, store)
    await expect(rowIn("Kept", "remember sorrel")).toHaveCount(0)
    await archiveNow.click()
    await expect(rowIn("Kept", "remember sorrel")).toContainText(/· \d+ files?/)
    await expect(rowIn("Expired", "remember sorrel")).toHaveCount(0)
  })
})

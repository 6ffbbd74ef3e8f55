import { expect, type Page, test } from "@playwright/test"
import { DOT, pictureOf, sha256 } from "../support/attachments"
import type { Rewake } from "../support/server"
import { openPage, openTask, send } from "./pages"
import { useSharedServer } from "./use-server"

let rewake: Rewake
useSharedServer((started) => {
  rewake = started
})

type Given = { name: string; type: string; base64: string }
const png = (name: string, content: Buffer = DOT): Given => ({ name, type: "image/png", base64: content.toString("base64") })
const text = (name: string, content: string): Given => ({ name, type: "text/plain", base64: Buffer.from(content).toString("base64") })

/** As a browser does it: an event that carries real files. */
async function give(page: Page, how: "paste" | "drop", files: Given[]): Promise<void> {
  const target = how === "paste" ? page.getByRole("textbox", { name: /^Message to|what should be done/i }) : page.locator("body")
  await target.evaluate(
    (element, { how, files }) => {
      const carried = new DataTransfer()
      for (const { name, type, base64 } of files) {
        carried.items.add(new File([Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))], name, { type }))
      }
      const init = { bubbles: true, cancelable: true }
      if (how === "paste") return element.dispatchEvent(new ClipboardEvent("paste", { ...init, clipboardData: carried }))
      element.dispatchEvent(new DragEvent("dragover", { ...init, dataTransfer: carried }))
      return element.dispatchEvent(new DragEvent("drop", { ...init, dataTransfer: carried }))
    },
    { how, files },
  )
}
const draftCards = (page: Page) => page.getByRole("list", { name: "Attachments" }).last().getByRole("listitem")
/** A card shows the size once its file is uploaded; a reload before that loses the file. */
const expectUploaded = (page: Page, names: string[]) =>
  expect(draftCards(page)).toHaveText(names.map((name) => new RegExp(`^${name}\\d+ B$`)))

test("pasted and dropped files are sent with the message, shown in the transcript and given to the agent", async ({ page }) => {
  await openTask(page, rewake, "remember plum")
  await expect(page.getByText("I will remember plum.")).toBeVisible()
  // The first file's upload ends last.
  const notesUploaded = page.waitForResponse(/attachments\?name=notes\.txt/)
  await page.route(/attachments\?name=shot\.png/, async (route) => {
    await notesUploaded
    await route.continue()
  })
  await give(page, "paste", [png("shot.png")])
  await give(page, "drop", [text("notes.txt", "some notes"), text("wrong.txt", "not this")])
  await expect(draftCards(page)).toHaveCount(3)

  await page.getByRole("button", { name: "Remove wrong.txt" }).press("Enter")
  await expectUploaded(page, ["shot.png", "notes.txt"])
  await page.reload()
  await expectUploaded(page, ["shot.png", "notes.txt"])

  await send(page, "look")
  const log = page.getByRole("log")
  await expect(log.getByText(sha256(DOT))).toBeVisible()
  await expect(log.getByText(sha256(Buffer.from("some notes")))).toBeVisible()
  await expect(log.getByText("wrong.txt")).toHaveCount(0)
  const picture = log.getByRole("button", { name: "Open shot.png" })
  await expect.poll(() => picture.getByRole("img").evaluate((img: HTMLImageElement) => img.naturalWidth)).toBe(1)
  const download = page.waitForEvent("download")
  await log.getByRole("link", { name: "Download notes.txt" }).click()
  expect((await download).suggestedFilename()).toBe("notes.txt")

  await picture.click()
  const dialog = page.getByRole("dialog", { name: "shot.png" })
  await expect(dialog.getByRole("img", { name: "shot.png" })).toBeVisible()
  await page.keyboard.press("Escape")
  await expect(dialog).toHaveCount(0)
  await expect(picture).toBeFocused()
  await page.reload()
  await expect(log.getByRole("button", { name: "Open shot.png" })).toBeVisible()
})

test("a picture without text starts a task", async ({ page }) => {
  await openPage(page, `${rewake.url}/tasks/new`)
  const chosen = page.waitForEvent("filechooser")
  await page.getByRole("button", { name: "Attach files" }).click()
  await (await chosen).setFiles({ name: "error.png", mimeType: "image/png", buffer: DOT })
  await expectUploaded(page, ["error.png"])
  await page.reload()
  await expectUploaded(page, ["error.png"])
  await page.getByRole("button", { name: "Start" }).click()
  await page.waitForURL(/\/sessions\/sess_/)
  await expect(page.getByRole("log").getByRole("button", { name: "Open error.png" })).toBeVisible()
  await expect(page.getByRole("log").getByText(sha256(DOT))).toBeVisible()
})

test("a queued message keeps its attachment when edited; a refused file says why and blocks sending", async ({ page }) => {
  await openTask(page, rewake, "hang")
  await expect(page.getByText(/I will not finish this/)).toBeVisible()
  await give(page, "paste", [png("shot.png")])
  await expectUploaded(page, ["shot.png"])
  await send(page, "what is this")
  const queue = page.getByRole("region", { name: "Queue" })
  await expect(queue.getByRole("listitem")).toHaveCount(1)
  await expect(queue.getByText("1 attachment: shot.png")).toBeAttached()
  await queue.getByRole("button", { name: "Edit" }).click()
  const edit = queue.getByRole("textbox", { name: "Edit queued message" })
  await edit.fill("")
  await edit.press("Enter")
  await expect(queue.getByText("what is this")).toHaveCount(0)
  await expect(queue.getByText("shot.png", { exact: true })).toBeVisible()

  await give(page, "drop", [png("huge.png", pictureOf(6 * 1024 * 1024))])
  await expect(page.getByText(/at most 5\.0 MB can be attached/)).toBeVisible()
  const composer = page.getByRole("textbox", { name: /^Message to/ })
  await composer.fill("recall")
  await expect(page.getByRole("button", { name: "Queue", exact: true })).toBeDisabled()
  await page.getByRole("button", { name: "Remove huge.png" }).click()
  await expect(composer).toBeFocused()
  await page.keyboard.press("Escape")
  await expect(page.getByRole("log").getByText(sha256(DOT))).toBeVisible()
  await expect(page.getByRole("log").getByRole("button", { name: "Open shot.png" })).toBeVisible()
})

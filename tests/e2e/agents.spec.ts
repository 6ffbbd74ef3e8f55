import { resolve } from "node:path"
import { expect, test } from "@playwright/test"
import type { Rewake } from "../support/server"
import { expectNoDialog, expectTranscript, newTask, openPage } from "./pages"
import { useSharedServer } from "./use-server"

let rewake: Rewake
useSharedServer((started) => {
  rewake = started
})

test("an admin adds an agent with a key, gives it a task, and the key is never shown again", async ({ page }) => {
  await openPage(page, `${rewake.url}/admin/agents`)
  await page.getByRole("button", { name: "Add an agent…" }).click()
  const dialog = page.getByRole("dialog", { name: "Add an agent" })
  await dialog.getByLabel("Name").fill("House agent")
  await dialog.getByRole("button", { name: "Add", exact: true }).click()
  await expect(dialog.getByRole("alert")).toContainText("needs a command")
  const script = resolve("dist/programs/demo-agent.mjs")
  await dialog.getByLabel("Command that speaks").fill(`"${process.execPath}" "${script}" --variant demo`)
  await dialog.getByRole("button", { name: "Add", exact: true }).click()

  const row = page.getByRole("listitem", { name: "House agent" })
  await row.getByRole("button", { name: "Keys of House agent" }).click()
  const keys = page.getByRole("dialog", { name: "Keys of House agent" })
  await keys.getByLabel("Name").fill("HOUSE_KEY")
  await keys.getByLabel("Value").fill("a-very-private-value")
  await keys.getByRole("button", { name: "Set", exact: true }).click()
  await expect(keys.getByText("HOUSE_KEY", { exact: true })).toBeVisible()
  await page.reload()
  await expect(row).toContainText("HOUSE_KEY set")
  expect(await page.content()).not.toContain("a-very-private-value")

  await openPage(page, rewake.url)
  await page.getByRole("button", { name: /^Agent:/ }).click()
  await page.getByRole("menuitemradio", { name: /House agent/ }).click()
  await newTask(page, rewake.url, "remember medlar")
  await expectTranscript(page).toContain("medlar")
  await openPage(page, `${rewake.url}/admin/agents`)
  await expect(row).toContainText("Comes back with its own memory, as it says itself")
  await row.getByRole("button", { name: "Remove House agent" }).click()
  await page.getByRole("dialog", { name: "Remove House agent?" }).getByRole("button", { name: "Remove", exact: true }).click()
  await expectNoDialog(page)
  await expect(row).toHaveCount(0)
})

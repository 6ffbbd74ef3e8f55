import { expect, test } from "@playwright/test"
import type { Rewake } from "../support/server"
import { expectNoDialog, expectTranscript, openTask, send, sessionIdIn, taskIdIn, taskRow } from "./pages"
import { useSharedServer } from "./use-server"

let rewake: Rewake
useSharedServer((started) => {
  rewake = started
})

test("messages sent during a turn are queued and can be reordered; Esc stops the turn", async ({ page }) => {
  await openTask(page, rewake, "count 500 50")
  await expectTranscript(page).toContain("3 4")
  await send(page, "recall")
  await send(page, "remember pear")
  const queue = page.getByRole("region", { name: "Queue" })
  await expect(queue.getByRole("listitem")).toHaveCount(2)
  await queue.getByRole("listitem").nth(1).getByRole("button", { name: "Move up" }).click()
  await expect(queue.getByRole("listitem").first()).toContainText("remember pear")
  await page.keyboard.press("Escape")
  await expect(page.getByText(/I remember: pear/)).toBeVisible()
  await expect(queue).toHaveCount(0)
})

test("a draft survives a reload, and deleting asks first", async ({ page }) => {
  const url = await openTask(page, rewake, "remember plum")
  const composer = page.getByRole("textbox", { name: /^Message to/ })
  await expect(taskRow(page, "remember plum")).toBeVisible()
  await composer.fill("half a thought")
  await page.reload()
  await expect(composer).toHaveValue("half a thought")
  await page.getByRole("button", { name: "Actions for remember plum" }).first().click()
  await page.getByRole("menuitem", { name: /delete/i }).click()
  const dialog = page.getByRole("dialog")
  await expect(dialog).toBeVisible()
  await dialog.getByRole("button", { name: /delete/i }).click()
  await expect(page).toHaveURL(/\/tasks(\/new)?$/)
  await expectNoDialog(page)
  await expect(taskRow(page, "remember plum")).toHaveCount(0)
  expect((await rewake.api("GET", `/api/v1/tasks/${taskIdIn(url)}`)).status).toBe(404)
})

test("a dialog appears where it stays, so that a quick click hits its button", async ({ page }) => {
  await page.addInitScript(() => {
    document.addEventListener("animationstart", ({ target }) => {
      if (!(target instanceof HTMLElement) || target.role !== "dialog") return
      const [first] = target.getAnimations()
      if (!first) return
      first.currentTime = 0
      const { left, top } = target.getBoundingClientRect()
      first.finish()
      const place = target.getBoundingClientRect()
      document.body.dataset.moved = String(Math.hypot(place.left - left, place.top - top))
    })
  })
  await openTask(page, rewake, "remember fig")
  await page.keyboard.press("?")
  await expect(page.getByRole("dialog")).toBeVisible()
  await expect(page.locator("body")).toHaveAttribute("data-moved", /\d/)
  expect(Number(await page.locator("body").getAttribute("data-moved"))).toBeLessThan(8)
})

test("a task's open menu stays open while the task moves from Working to Recent", async ({ page }) => {
  const url = await openTask(page, rewake, "hang")
  await expect(page.getByText(/I will not finish this/)).toBeVisible()
  const list = page.getByRole("navigation", { name: "Tasks" })
  await list.getByRole("button", { name: "Actions for hang" }).click()
  const rename = page.getByRole("menuitem", { name: "Rename…" })
  await expect(rename).toBeVisible()
  await rewake.api("POST", `/api/v1/sessions/${sessionIdIn(url)}/cancel`)
  // Behind an open menu the page is hidden from assistive tools: found by its text.
  await expect(list.locator("li", { has: page.getByText("Working", { exact: true }) })).toHaveCount(0)
  await rename.click()
  await expect(page.getByRole("dialog")).toBeVisible()
})

test("a long session renders only a part of its transcript", async ({ page }) => {
  const url = await openTask(page, rewake, "flood 400")
  await rewake.waitForRuns(sessionIdIn(url), 1)
  await page.reload()
  const rendered = page.getByRole("log").locator("[data-index]")
  await expect(rendered.first()).toBeVisible()
  expect(await rendered.count()).toBeLessThan(60)
})

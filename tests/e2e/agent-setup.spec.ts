import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { expect, test } from "@playwright/test"
import type { Rewake } from "../support/server"
import { expectTranscript, openPage, openTask, send, sessionIdIn } from "./pages"
import { useEmptyServer, useSharedServer } from "./use-server"

let rewake: Rewake
const assign = (started: Rewake) => {
  rewake = started
}

async function workerPath(sessionId: string): Promise<string> {
  const { body } = await rewake.api<{ workers: { id: string }[] }>("GET", `/api/v1/sessions/${sessionId}/workers`)
  return `/api/v1/sessions/${sessionId}/workers/${body.workers[0]?.id}`
}

test.describe("when the server is killed", () => {
  useEmptyServer(assign)

  test("a chosen mode holds in the next turn and after kill -9 of server, daemon and agent", async ({ page }) => {
    const id = sessionIdIn(await openTask(page, rewake, "remember pear"))
    const mode = (name: string) => page.getByRole("button", { name: `Mode: ${name}` })
    await mode("Ask first").click()
    await page.getByRole("menuitemradio", { name: /Plan only/ }).click()
    await expect(mode("Plan only")).toBeVisible()
    const aloud = page.getByRole("switch", { name: "Think aloud" })
    await aloud.click()
    await expect(aloud).toBeChecked()
    await send(page, "write notes.txt hello")
    await expectTranscript(page).toContain("I am in plan mode and change nothing.")
    await expect(page.getByRole("img", { name: /^Context: \d+ % used, [\d,]+ of 8,192 tokens$/ })).toBeVisible()

    const started = (await rewake.events(id)).findLast((event) => event.kind === "agent.started")
    rewake.killDaemon()
    if (started?.kind === "agent.started" && started.pid) process.kill(started.pid, "SIGKILL")
    await rewake.restart()
    await expect(page.getByText("Connected")).toBeVisible()
    await expect(mode("Plan only")).toBeVisible()
    await send(page, "run touch file")
    await expectTranscript(page).toMatch(/change nothing.*change nothing/)
  })
})

test.describe("on one server", () => {
  const folder = join(tmpdir(), `rewake-agents-${process.pid}`)
  const file = join(folder, "agents.json")
  test.beforeAll(() => {
    const acp = { command: process.execPath, args: [resolve("tests/support/odd-agent.mjs"), "signed-out"] }
    mkdirSync(folder)
    writeFileSync(file, JSON.stringify([{ id: "aloof", name: "Aloof", acp }]))
  })
  test.afterAll(() => rmSync(folder, { recursive: true, force: true }))
  useSharedServer(assign, { env: { AGENTS_FILE: file } })

  test("a slash lists the agent's commands: arrows move, Tab completes, Escape closes, Enter sends", async ({ page }) => {
    await openTask(page, rewake, "remember plum")
    const field = page.getByLabel(/^Message to/)
    const offered = page.getByRole("listbox", { name: "Commands of the agent" })
    await expect(page.getByRole("button", { name: /^Mode:/ })).toBeVisible()
    await field.pressSequentially("/re")
    await expect(offered.getByRole("option")).toHaveText([/^\/remember\s*WORD/, /^\/recall/])
    await expect(offered.getByRole("option", { selected: true })).toHaveText(/remember/)
    await field.press("ArrowDown")
    await expect(offered.getByRole("option", { selected: true })).toHaveText(/recall/)
    await field.press("Escape")
    await expect(offered).toHaveCount(0)
    await expect(field).toHaveValue("/re")
    await field.press("Backspace")
    await field.press("Tab")
    await expect(field).toHaveValue("/remember ")
    await expect(field).toBeFocused()
    await field.pressSequentially("cherry")
    await field.press("Enter")
    await field.pressSequentially("/recall")
    await field.press("Enter")
    await expectTranscript(page).toContain("I remember: plum, cherry")
  })

  test("an agent that is not signed in says so, and answers the message after the sign-in", async ({ page }) => {
    await openTask(page, rewake, "hello", "aloof")
    await expect(page.getByText("Aloof is not signed in. Transcript, queue and files are kept.")).toBeVisible()
    await page.getByRole("button", { name: "Sign in…" }).click()
    const dialog = page.getByRole("dialog", { name: "Sign in to Aloof" })
    await expect(dialog.getByRole("listitem")).toHaveText([
      /API key.*A key of your own/,
      /Browser/,
      /Command line.*Runs in a new terminal:.*login/,
    ])
    await dialog.getByRole("button", { name: /API key/ }).click()
    await expectTranscript(page).toContain("heard hello")
    await expect(page.getByText("is not signed in")).toHaveCount(0)
  })

  test("a sign-in by command line opens a terminal that runs the agent's own program", async ({ page }) => {
    const id = sessionIdIn(await openTask(page, rewake, "hello", "aloof"))
    await page.getByRole("button", { name: "Sign in…" }).click()
    await page.getByRole("button", { name: /Command line/ }).click()
    await expect(page.getByRole("tab", { name: /^Terminal 1\b/ })).toHaveAttribute("aria-selected", "true")
    await expect
      .poll(async () => (await rewake.api<{ processes: { command: string }[] }>("GET", await workerPath(id))).body.processes)
      .toMatchObject([{ command: expect.stringMatching(/odd-agent\.mjs signed-out login$/), foreground: true }])
  })

  test("an added MCP server is shown without its key, given to agents, and can be removed", async ({ page }) => {
    await openPage(page, `${rewake.url}/admin/agents`)
    await page.getByRole("button", { name: "Add an MCP server…" }).click()
    const form = page.getByRole("dialog", { name: "Add an MCP server" })
    await form.getByLabel("Name", { exact: true }).fill("notes")
    await form.getByLabel("Command or address").fill('mcp-notes --folder "my notes"')
    await form.getByLabel(/^Environment variables/).fill("NOTES_KEY=planted-key")
    await form.getByRole("button", { name: "Add", exact: true }).click()
    const row = page.getByRole("listitem", { name: "notes" })
    await expect(row).toContainText('mcp-notes --folder "my notes" · NOTES_KEY set')
    await openTask(page, rewake, "mcp")
    await expectTranscript(page).toContain("I was given these MCP servers: notes")
    await openPage(page, `${rewake.url}/admin/agents`)
    await page.getByRole("button", { name: "Take notes away" }).click()
    await expect(row).toHaveCount(0)
  })
})

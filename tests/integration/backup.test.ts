import { spawnSync } from "node:child_process"
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import type { Recovery } from "../../lib/contracts/admin"
import { Rewake, type StartOptions } from "../support/server"
import { waitUntil } from "../support/wait-until"

let rewake: Rewake
let folder: string
let file: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "rewake-backup-"))
  file = join(folder, "backup")
})
afterEach(async () => {
  await rewake.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** Without AUTH_SECRET in the environment: the secret is a file of the data folder. */
const OWN_SECRET: StartOptions = { env: { AUTH_SECRET: "" } }
const secretFile = () => join(rewake.dataDir, "auth-secret")
const databaseFile = () => join(rewake.dataDir, "rewake.db")

function backup(...args: string[]): { code: number | null; said: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, ["dist/cli.mjs", "backup", ...args], {
    env: rewake.environment(),
    encoding: "utf8",
  })
  return { code: status, said: stdout + stderr }
}
function expectRefused(result: { code: number | null; said: string }, sentence: RegExp) {
  expect(result.said).toMatch(sentence)
  expect(result.said).not.toMatch(/\n\s+at /)
  expect(result.code).toBe(1)
}

/** A session in mid-turn, and a message that waits behind the turn. */
async function work() {
  const { task, session } = await rewake.createTask("count 400 20")
  await rewake.waitForEvent(session.id, (event) => event.kind === "message.delta", "the first number")
  await rewake.append(task.id, "remember plum")
  return { task, session }
}
const restoredNote = () =>
  waitUntil(async () => {
    const { items } = (await rewake.api<{ items: Recovery[] }>("GET", "/api/v1/admin/recoveries")).body
    return items.find(({ note }) => note?.includes("A backup was restored"))?.note
  }, "the restored backup to be noticed")

test("made while an agent works, restored into an empty folder: the log, the secret, and what was queued is held", async () => {
  rewake = await Rewake.start(OWN_SECRET)
  const { session } = await work()
  const made = backup(file)
  expect(made.said).toMatch(
    /1 session, .* MB, verified\nIt holds the database and auth-secret[\s\S]*leaves out:[\s\S]*archives[\s\S]*workspaces/,
  )
  expect(made.code).toBe(0)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(readdirSync(folder)).toEqual(["backup"])
  const secret = readFileSync(secretFile(), "utf8")
  expect(readFileSync(file).includes(secret)).toBe(true)

  await rewake.stop({ keep: true })
  for (const name of readdirSync(rewake.dataDir)) rmSync(join(rewake.dataDir, name), { recursive: true })
  const restored = backup("--restore", file)
  expect(restored.said).toMatch(/^The database is the one of 2\S+ again: 1 session\.\nMessages that were queued are held/)
  expect(readFileSync(secretFile(), "utf8")).toBe(secret)
  expect(readFileSync(databaseFile()).includes(secret)).toBe(false)
  expect([secretFile(), databaseFile()].map((path) => statSync(path).mode & 0o777)).toEqual([0o600, 0o600])

  await rewake.boot()
  expect(await restoredNote()).toContain("1 queued message held")
  const log = await rewake.events(session.id)
  expect(log.filter((event) => event.kind === "message.user").map((event) => event.content)).toEqual(["count 400 20", "remember plum"])
  expect(log.some((event) => event.kind === "prompt.held")).toBe(true)
})

test("restored in place: not while a server runs; what it replaces is kept; an older one is noticed", async () => {
  rewake = await Rewake.start(OWN_SECRET)
  expect(backup(file).code).toBe(0)
  const { session } = await work()
  expectRefused(backup("--restore", file), /A server is using .* Stop it first/)
  await rewake.kill9()
  writeFileSync(secretFile(), "another-secret-that-is-long-enough")
  const restored = backup("--restore", file)
  expect(restored.code).toBe(0)
  const kept = readdirSync(rewake.dataDir).filter((name) => name.includes(".replaced-"))
  expect(kept.map((name) => name.replace(/\.replaced-.*Z/, "")).sort()).toEqual(["auth-secret", "rewake.db"])
  for (const name of kept) expect(restored.said).toContain(join(rewake.dataDir, name))
  // With all that its log held.
  const replaced = kept.find((name) => name.startsWith("rewake.db")) as string
  expect(readFileSync(join(rewake.dataDir, replaced)).includes(session.id)).toBe(true)
  await rewake.boot()
  expect(await restoredNote()).toContain("A backup was restored")
  expect((await rewake.api("GET", `/api/v1/sessions/${session.id}`)).status).toBe(404)
})

test("a backup is never written over, and a damaged one never put in the database's place", async () => {
  rewake = await Rewake.start(OWN_SECRET)
  expect(backup(file).code).toBe(0)
  expectRefused(backup(file), /exists already/)
  expect(backup(file, "--overwrite").code).toBe(0)
  expectRefused(backup(join(folder, "none", "backup")), /There is no folder/)
  expectRefused(backup(), /backup FILE .* makes a backup/)
  await rewake.kill9()

  const damaged = join(folder, "damaged")
  copyFileSync(file, damaged)
  const bytes = readFileSync(damaged)
  writeFileSync(damaged, bytes.fill(7, 20_000, 60_000))
  const text = join(folder, "text")
  writeFileSync(text, "not a database ".repeat(1000))
  const before = readFileSync(databaseFile())
  for (const bad of [damaged, text, databaseFile()]) expectRefused(backup("--restore", bad), /is damaged, or not a backup of Rewake/)
  expectRefused(backup("--restore", join(folder, "none")), /There is no file/)
  expect(readFileSync(databaseFile()).equals(before)).toBe(true)
  expect(readdirSync(rewake.dataDir).filter((name) => /replaced|tmp/.test(name))).toEqual([])
})

test("with AUTH_SECRET in the environment, or PostgreSQL, it says what to keep yourself", async () => {
  rewake = await Rewake.start()
  const made = backup(file)
  expect(made.said).toMatch(/It holds the database\.\nIt leaves out:\n\s+AUTH_SECRET, which is set in the environment/)
  expect(existsSync(file)).toBe(true)
  rewake.env.DATABASE_URL = "postgresql://127.0.0.1:1/none"
  for (const args of [[join(folder, "other")], ["--restore", file]]) expectRefused(backup(...args), /PostgreSQL: back it up with pg_dump/)
})

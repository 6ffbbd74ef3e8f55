import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { freePort } from "../support/free-port"
import { SmallDisk } from "../support/small-disk"
import { readTemplate } from "../support/template"

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "rewake-start-"))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const environment = (extra: Record<string, string>): NodeJS.ProcessEnv => ({
  ...process.env,
  NODE_ENV: "production",
  HOST: "127.0.0.1",
  PORT: "0",
  DATA_DIR: folder,
  AUTH_SECRET: "a-secret-for-tests-that-is-long-enough",
  DATABASE_URL: "",
  LOG_LEVEL: "silent",
  ...extra,
})

/** Starts a server that is expected to end by itself; answers what it said, which must be sentences. */
async function failingStart(extra: Record<string, string> = {}): Promise<string> {
  const child = spawn(process.execPath, ["dist/server.mjs"], { env: environment(extra), stdio: ["ignore", "pipe", "pipe"] })
  let said = ""
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (said += chunk.toString("utf8")))
  const [code] = (await once(child, "close")) as [number]
  expect(said).not.toMatch(/\n\s+at /)
  expect(code).toBe(1)
  return said
}

const database = () => join(folder, "rewake.db")
/** Over what begins the file, or over a page further back. */
const damages: [string, (bytes: Buffer) => Buffer][] = [
  ["its header", (bytes) => bytes.fill(7, 0, 100)],
  ["its schema", (bytes) => bytes.fill(7, 100, 4_000)],
  ["its end", (bytes) => bytes.subarray(0, 8_192)],
]

test.each(damages)("a database file damaged in %s is named by start and doctor, with the way to a backup", async (_, damage) => {
  writeFileSync(database(), damage(readFileSync(readTemplate().file)))
  expect(await failingStart()).toMatch(/database file .*rewake\.db is damaged\.\n.*npm run doctor.*npm run backup -- --restore FILE/)
  const doctor = spawnSync(process.execPath, ["dist/cli.mjs", "doctor"], { env: environment({}), encoding: "utf8" })
  expect(doctor.stderr).toMatch(/The database file is damaged:[\s\S]*npm run backup -- --restore FILE/)
  expect(doctor.stderr).not.toMatch(/\n\s+at /)
  expect(doctor.status).toBe(1)
})

test("a start on a full disk says so, with an older database and with none", async () => {
  const disk = new SmallDisk(4)
  try {
    disk.fill()
    const full = /(The disk of|the disk of) .* is full.*Free some space/
    expect(await failingStart({ DATA_DIR: join(disk.path, "data") })).toMatch(full)
    disk.free()
    copyFileSync(readTemplate().file, join(disk.path, "rewake.db"))
    disk.fill()
    expect(await failingStart({ DATABASE_URL: `file:${join(disk.path, "rewake.db")}` })).toMatch(full)
  } finally {
    disk.unmount()
  }
})

test("a start without its PostgreSQL names where it looked, without the password", async () => {
  const port = await freePort()
  const said = await failingStart({ DATABASE_URL: `postgresql://app:secret-password@127.0.0.1:${port}/rewake` })
  expect(said).toMatch(new RegExp(`PostgreSQL at 127.0.0.1:${port} does not answer \\(ECONNREFUSED\\)`))
  expect(said).not.toContain("secret-password")
})

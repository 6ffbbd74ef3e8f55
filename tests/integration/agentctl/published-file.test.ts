import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Worker } from "node:worker_threads"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { isFolderLocked, lockFolder } from "../../../lib/host/folder-lock"
import { processStartTime } from "../../../lib/host/process-identity"
import { Daemon, newDataDir, spawnDaemon } from "../../support/daemon"
import { damages } from "../../support/damages"
import { waitUntil } from "../../support/wait-until"

let dataDir: string
let daemon: Daemon | null = null
beforeEach(() => {
  dataDir = newDataDir()
})
afterEach(async () => {
  await daemon?.kill()
  expect(daemon?.mistakes() ?? []).toEqual([])
  daemon = null
  rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 })
})

describe("the daemon's published file", () => {
  test("is written again as it was, for its owner only, whatever was done to it, and its agent goes on", async () => {
    daemon = await Daemon.start(dataDir, [], { publishedCheckMs: 50 })
    const { agent } = await daemon.ready("sess_on")
    const file = join(dataDir, "run/agentctl.json")
    const original = readFileSync(file, "utf8")
    const isBack = () => {
      try {
        return readFileSync(file, "utf8") === original && (statSync(file).mode & 0o777) === 0o600
      } catch {
        return false
      }
    }
    const others = { "another daemon's": (path: string) => writeFileSync(path, original.replaceAll("actl_", "actl_other")) }
    for (const [what, damage] of Object.entries({ ...damages, ...others })) {
      damage(file)
      await waitUntil(isBack, `the file that was ${what}`)
    }
    rmSync(join(dataDir, "run"), { recursive: true })
    await waitUntil(isBack, "the file whose folder was deleted")
    // The lock's file was in that folder: it is held again, too.
    expect(isFolderLocked(join(dataDir, "run/agentctl.lock"))).toBe(true)
    expect(processStartTime(agent.pid as number)).not.toBeNull()
    expect(await daemon.describe("sess_on")).toMatchObject({ agent: { state: "ready" } })
  })

  test("is written again within five seconds", async () => {
    daemon = await Daemon.start(dataDir)
    const file = join(dataDir, "run/agentctl.json")
    rmSync(file)
    const since = performance.now()
    await waitUntil(() => statSync(file, { throwIfNoEntry: false }) !== undefined, "the deleted file")
    expect(performance.now() - since).toBeLessThan(5_000)
  })

  test("is left to another daemon that took the folder after its lock was deleted", async () => {
    daemon = await Daemon.start(dataDir, [], { publishedCheckMs: 50 })
    const run = join(dataDir, "run")
    renameSync(run, join(dataDir, "run-deleted"))
    mkdirSync(run, { mode: 0o700 })
    const held = lockFolder(join(run, "agentctl.lock"))
    writeFileSync(join(run, "agentctl.json"), "another daemon's")
    const log = join(dataDir, "logs/agentctl.log")
    await waitUntil(() => readFileSync(log, "utf8").includes("daemon.not_published"), "the daemon to see it")
    expect(readFileSync(join(run, "agentctl.json"), "utf8")).toBe("another daemon's")
    held?.release()
  })
})

describe("the lock of a folder", () => {
  test("is seen by others as long as it is held, also when its file is damaged", async () => {
    const lock = join(dataDir, "lock")
    expect(isFolderLocked(lock)).toBe(false)
    const held = lockFolder(lock)
    expect(isFolderLocked(lock)).toBe(true)
    expect(lockFolder(lock)).toBeNull()
    held?.release()
    expect(isFolderLocked(lock)).toBe(false)
    writeFileSync(lock, "garbage".repeat(1000))
    chmodSync(lock, 0o600)
    expect(isFolderLocked(lock)).toBe(false)
    const again = lockFolder(lock)
    expect(isFolderLocked(lock)).toBe(true)
    again?.release()
  })

  test("can be taken while somebody looks whether it is held", async () => {
    const lock = join(dataDir, "lock")
    lockFolder(lock)?.release()
    // A look that takes unusually long, in another thread: the same lock as isFolderLocked takes.
    const script = `
      const { parentPort } = require("node:worker_threads")
      const db = new (require("better-sqlite3"))(${JSON.stringify(lock)}, { readonly: true })
      db.exec("BEGIN")
      db.pragma("schema_version")
      parentPort.postMessage("looking")
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100)
      db.close()`
    const looker = new Worker(script, { eval: true })
    await new Promise((resolve) => looker.once("message", resolve))
    const held = lockFolder(lock)
    expect(held).not.toBeNull()
    held?.release()
    await looker.terminate()
  })

  test("of a running daemon keeps a second one out, which ends with its own exit code", async () => {
    daemon = await Daemon.start(dataDir)
    expect(isFolderLocked(join(dataDir, "run/agentctl.lock"))).toBe(true)
    const second = spawnDaemon(dataDir)
    expect(await new Promise((resolve) => second.once("exit", resolve))).toBe(3)
    await daemon.kill()
    expect(isFolderLocked(join(dataDir, "run/agentctl.lock"))).toBe(false)
  })
})

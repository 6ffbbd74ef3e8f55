import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterEach, beforeEach, expect, test } from "vitest"

const library = new URL("../../../scripts/lib/", import.meta.url)
let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "rewake-lock-"))
  appendFileSync(join(folder, "log"), "")
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** A process that takes the lock and runs `work` under it; `log` appends a line. */
function holder(work: string): ChildProcess {
  const program = `
    import { appendFileSync } from "node:fs"
    import { spawn } from "node:child_process"
    import { setTimeout as sleep } from "node:timers/promises"
    import { withLock } from ${JSON.stringify(new URL("lock.mjs", library).href)}
    const log = (line) => appendFileSync(${JSON.stringify(join(folder, "log"))}, line + "\\n")
    await withLock(() => log("waits"), async (onSpawn) => { ${work} }, ${JSON.stringify(join(folder, "lock"))})
  `
  return spawn(process.execPath, ["--input-type=module", "-e", program], { stdio: ["ignore", "inherit", "inherit"] })
}

const log = () => readFileSync(join(folder, "log"), "utf8").trim().split("\n")
async function untilLogged(line: string) {
  while (!log().some((logged) => logged.startsWith(line))) await sleep(20)
}

test("processes that start together work one after the other", async () => {
  const holders = Array.from({ length: 6 }, () => holder('log("in"); await sleep(50); log("out")'))
  const codes = await Promise.all(holders.map((child) => once(child, "exit").then(([code]) => code)))
  expect(codes).toEqual([0, 0, 0, 0, 0, 0])
  expect(log().filter((line) => line !== "waits")).toEqual(Array.from({ length: 6 }, () => ["in", "out"]).flat())
})

test("the lock of a killed process is taken over, and what it had started is ended first", async () => {
  const killed = holder(`
    const child = spawn("sleep", ["600"], { detached: true, stdio: "ignore" })
    onSpawn(child)
    log("child " + child.pid)
    await sleep(600_000)
  `)
  await untilLogged("child")
  const childPid = Number(log()[0]?.split(" ")[1])
  killed.kill("SIGKILL")
  await once(killed, "exit")

  const [code] = await once(holder('log("in")'), "exit")
  expect(code).toBe(0)
  expect(log()).toContain("in")
  expect(isRunning(childPid)).toBe(false)
})

function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, "utf8"))
  } catch {
    return false
  }
}

import { rmSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { Daemon, newDataDir, PROGRAMS } from "../../support/daemon"
import { PtyStream, putPty, type } from "../../support/ptys"

let dataDir: string
let daemon: Daemon

beforeAll(async () => {
  dataDir = newDataDir()
  daemon = await Daemon.start(dataDir)
})
afterAll(async () => {
  await daemon.stop()
  rmSync(dataDir, { recursive: true, force: true })
})

const agent = (...args: string[]) => ({
  type: "agent" as const,
  command: { file: process.execPath, args: [join(PROGRAMS, "demo-agent.mjs"), "--terminal", ...args], env: {} },
  label: "conversation continued",
})

test("a terminal agent goes on with its own conversation after its daemon was killed, and begins a new one when it is told to", async () => {
  await daemon.putSession("sess_a")
  const id = "demo_11111111-2222-4333-8444-555555555555"
  await putPty(daemon, "sess_a", "wrk_a", agent("--session-id", id))
  await putPty(daemon, "sess_a", "wrk_b", agent())
  const first = new PtyStream(daemon, "sess_a", "wrk_a")
  await first.until("demo> ")
  await type(daemon, "sess_a", "wrk_a", 1, "remember apple\r")
  await first.until("I will remember apple.")
  const other = new PtyStream(daemon, "sess_a", "wrk_b")
  await other.until("demo> ")
  await type(daemon, "sess_a", "wrk_b", 1, "remember pear\r")
  await other.until("I will remember pear.")

  await daemon.kill()
  daemon = await Daemon.start(dataDir)
  const { body } = await putPty(daemon, "sess_a", "wrk_a", agent("--resume", id))
  expect(body).toMatchObject({ type: "agent", epoch: 2, restored: true })
  const again = new PtyStream(daemon, "sess_a", "wrk_a", `output?offset=${body.epoch_offset}`)
  await again.until(/Continuing the conversation of \d{4}-.*demo> /s)
  await type(daemon, "sess_a", "wrk_a", 2, "recall\r")
  expect(await again.until("I remember: ")).not.toContain("pear")
  await again.until("I remember: apple\r\n")

  const fresh = (await putPty(daemon, "sess_a", "wrk_a", { ...agent(), restart: true, label: "new conversation" })).body
  expect(fresh).toMatchObject({ epoch: 3, restored: true })
  const anew = new PtyStream(daemon, "sess_a", "wrk_a", `output?offset=${fresh.epoch_offset}`)
  await anew.until("demo> ")
  await type(daemon, "sess_a", "wrk_a", 3, "recall\r")
  await anew.until("I remember nothing yet.")
})

test("what is typed to the demo agent before its prompt is there keeps its order", async () => {
  await daemon.putSession("sess_b")
  await putPty(daemon, "sess_b", "wrk_a", agent())
  const viewer = new PtyStream(daemon, "sess_b", "wrk_a")
  await viewer.until("demo> ")
  for (let round = 1; round <= 10; round++) {
    for (const key of ["remember fig\r", ..."recall", "\r"]) await type(daemon, "sess_b", "wrk_a", 1, key)
    await viewer.until((text) => text.split("I remember: fig").length > round)
  }
})

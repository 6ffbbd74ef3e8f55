import { rmSync } from "node:fs"
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest"
import { SpoolRecord } from "../../../lib/contracts/agentctl/protocol"
import { buildDaemonPrograms, Daemon, newDataDir } from "../../support/daemon"

let programs: string
let daemon: Daemon
let dataDir: string

beforeAll(async () => {
  programs = await buildDaemonPrograms()
})
afterAll(() => rmSync(programs, { recursive: true, force: true }))
beforeEach(async () => {
  dataDir = newDataDir()
  daemon = await Daemon.start(programs, dataDir)
})
afterEach(async () => {
  await daemon.kill()
  rmSync(dataDir, { recursive: true, force: true })
})

test("what an agent streams arrives once, in order, and ends with the turn", async () => {
  await daemon.ready("sess_count")
  const stream = daemon.events("sess_count")
  expect((await daemon.prompt("sess_count", "prm_1", "count 300 1")).body).toEqual({ accepted: true, duplicate: false })
  const ended = await stream.until("turn.ended")
  expect(ended).toMatchObject({ run_id: "run_prm_1", prompt_id: "prm_1", stop_reason: "end_turn" })
  expect(stream.text()).toBe(Array.from({ length: 300 }, (_, i) => i + 1).join(" "))
  expect(stream.records.map((r) => r.n)).toEqual(stream.records.map((_, i) => i + 1))
  expect(stream.kinds().slice(0, 3)).toEqual(["agent.started", "agent.session_announced", "prompt.accepted"])
  expect(stream.kinds().at(-1)).toBe("turn.ended")
  for (const record of stream.records) SpoolRecord.parse(record)
  expect(new Set(stream.records.flatMap((r) => (r.kind === "message.delta" ? [r.message_id] : []))).size).toBe(1)
})

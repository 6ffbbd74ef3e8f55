import { rmSync, statSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { Daemon, newDataDir } from "../../support/daemon"
import { useDaemon } from "../../support/use-daemon"

const LIMIT = 256 * 1024

const daemon = useDaemon({ args: ["--spool-limit-bytes", String(LIMIT), "--spool-cut-bytes", "65536"] })

const numbers = (text: string) => [...text.matchAll(/(\d+): x+\n/g)].map((m) => Number(m[1]))

test("a full spool holds the agent back, and acknowledging lets it go on with nothing lost", async () => {
  const { spool_id } = await daemon.ready("sess_full")
  const stream = daemon.events("sess_full")
  await daemon.prompt("sess_full", "prm_1", "flood 500")
  const size = () => statSync(join(daemon.dataDir, "sessions/sess_full.messages.jsonl")).size
  await expect.poll(size, { timeout: 20_000 }).toBeGreaterThan(LIMIT)
  // Held back means that it stays so: three looks in a row see the same head.
  const heads: number[] = []
  await expect
    .poll(async () => heads.push((await daemon.describe("sess_full")).head) > 3 && new Set(heads.slice(-3)).size === 1, { interval: 150 })
    .toBe(true)
  const heldAt = heads.at(-1) as number
  expect(size()).toBeLessThan(LIMIT + 128 * 1024)
  expect((await daemon.describe("sess_full")).run).not.toBeNull()

  await stream.when(() => stream.records.at(-1)?.n === heldAt)
  let acked = 0
  while (!stream.find("turn.ended")) {
    const n = stream.records.at(-1)?.n ?? 0
    if (n > acked) await daemon.call("PUT", "/sessions/sess_full/ack", { body: { spool_id, n } })
    acked = n
    await stream.when(() => (stream.records.at(-1)?.n ?? 0) > acked || stream.find("turn.ended") !== undefined)
  }
  expect(numbers(stream.text())).toEqual(Array.from({ length: 500 }, (_, i) => i + 1))
  expect(stream.records.map((r) => r.n)).toEqual(stream.records.map((_, i) => i + 1))

  const head = stream.records.at(-1)?.n ?? 0
  await daemon.call("PUT", "/sessions/sess_full/ack", { body: { spool_id, n: head } })
  await expect.poll(size).toBeLessThan(2 * 65536)
  const late = daemon.events("sess_full", 0, `&spool_id=${spool_id}`)
  await expect.poll(() => late.refused?.status).toBe(410)
  expect(late.refused?.body).toMatchObject({ code: "SPOOL_CUT", spool_id, head })
  const rest = daemon.events("sess_full", head)
  await rest.when(() => rest.header !== null)
  expect(rest.header).toMatchObject({ spool_id, head })
  expect(rest.header?.first).toBeGreaterThanOrEqual(Number(late.refused?.body.first))
})

test("a reader that does not read holds up neither the agent nor other readers, and misses nothing", async () => {
  const other = await Daemon.start(newDataDir())
  try {
    await other.ready("sess_slow")
    const slow = other.events("sess_slow")
    await slow.until("agent.session_announced")
    slow.response?.pause()
    const quick = other.events("sess_slow")
    await other.prompt("sess_slow", "prm_1", "flood 1500")
    await quick.until("turn.ended")
    expect(numbers(quick.text())).toHaveLength(1500)
    expect(slow.find("turn.ended")).toBeUndefined()
    slow.response?.resume()
    await slow.until("turn.ended")
    expect(slow.records).toEqual(quick.records)
  } finally {
    await other.stop()
    rmSync(other.dataDir, { recursive: true, force: true })
  }
})

test("a reader of another spool is told which one is here", async () => {
  const { spool_id } = await daemon.putSession("sess_other")
  const stream = daemon.events("sess_other", 5, "&spool_id=spool_other")
  await expect.poll(() => stream.refused).toMatchObject({ status: 409, body: { code: "SPOOL_MISMATCH", spool_id } })
  const ack = await daemon.call("PUT", "/sessions/sess_other/ack", { body: { spool_id: "spool_other", n: 0 } })
  expect(ack).toMatchObject({ status: 409, body: { code: "SPOOL_MISMATCH", spool_id } })
  expect((await daemon.call("PUT", "/sessions/sess_other/ack", { body: { spool_id, n: 9 } })).body).toMatchObject({ code: "INVALID_INPUT" })
})

test("what is asked wrongly is refused with a code and changes nothing", async () => {
  const session = "/sessions/sess_errors"
  const body = { generation: 1, workspace: { kind: "folder", path: join(daemon.dataDir, "workspaces/sess_errors") } }
  const cases: [Parameters<Daemon["call"]>, number, string][] = [
    [["GET", "/health", { secret: "wrong" }], 401, "UNAUTHENTICATED"],
    [["PUT", session, { secret: "", body }], 401, "UNAUTHENTICATED"],
    [["GET", "/nothing"], 404, "NOT_FOUND"],
    [["GET", session], 404, "NOT_FOUND"],
    [["PUT", `${session}/agent`, { body: {} }], 404, "NOT_FOUND"],
    [["GET", "/sessions/..%2f..%2fetc"], 400, "INVALID_INPUT"],
    [["PUT", "/sessions/task_1", { body }], 400, "INVALID_INPUT"],
    [["PUT", session, { body, epoch: null }], 400, "INVALID_INPUT"],
    [["PUT", session, { body: { generation: 1 } }], 400, "INVALID_INPUT"],
    [["PUT", session, { raw: "{oops" }], 400, "INVALID_INPUT"],
    [["PUT", session, { raw: JSON.stringify({ ...body, filler: "x".repeat(1024 * 1024) }) }], 413, "INVALID_INPUT"],
    [["PUT", session, { body: { generation: 1, workspace: { kind: "folder", path: "relative" } } }], 400, "INVALID_INPUT"],
  ]
  for (const [call, status, code] of cases) {
    const answer = await daemon.call(...call)
    expect([call.slice(0, 2), answer.status, answer.body.code]).toEqual([call.slice(0, 2), status, code])
    expect(typeof answer.body.message).toBe("string")
  }
  await daemon.putSession("sess_errors")
  expect((await daemon.call("PUT", `${session}/agent`, { body: { command: 1 } })).body).toMatchObject({ code: "INVALID_INPUT" })
  expect((await daemon.call("GET", `${session}/events?after=minus`)).body).toMatchObject({ code: "INVALID_INPUT" })
  expect((await daemon.call("GET", "/capabilities")).body).toEqual({ supports_session_resume: true, supports_workspace_only: true })
})

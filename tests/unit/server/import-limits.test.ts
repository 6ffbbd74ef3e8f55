import { describe, expect, test } from "vitest"
import type { SessionEvent } from "../../../lib/contracts/events"
import { isDeeperThan } from "../../../lib/host/json-depth"
import { createReplay } from "../../../server/journal"
import { createImportBudget, IMPORT_LIMITS, withinBytes } from "../../../server/transfer/limits"

const at = { session_id: "sess_1", seq: 1, ts: "2026-01-01T00:00:00.000Z", v: 1 as const }
const codeOf = (work: () => unknown) => {
  try {
    work()
  } catch (error) {
    const { code, details } = error as { code: string; details: object }
    return { code, ...details }
  }
  return null
}

describe("how much an import may hold", () => {
  const opened: SessionEvent = { ...at, kind: "worker.opened", worker_id: "wrk_1", type: "terminal", name: "T" }
  const queued: SessionEvent = {
    ...{ ...at, kind: "prompt.queued", prompt_id: "p", message_id: "m", content: "", rank: 1, client_message_id: null },
  }
  const ended: SessionEvent = { ...at, kind: "run.completed", run_id: "r", stop_reason: "end_turn" }
  const minted: SessionEvent = {
    ...{ ...at, kind: "token.minted", resume_token_id: "rt", run_id: "r", wait_kind: "question", request_id: "q" },
    ...{ secret_sha256: "x", expires_at: at.ts },
  }
  test.each([
    ["tabs", opened],
    ["prompts", queued],
    ["runs", ended],
    ["waits", minted],
  ] as const)("%s: the limit itself is taken, one more is refused by name", (what, event) => {
    const budget = createImportBudget()
    for (let n = 0; n < IMPORT_LIMITS[what]; n++) budget.take(event, 1)
    expect(codeOf(() => budget.take(event, 1))).toEqual({ code: "IMPORT_TOO_LARGE", what, limit: IMPORT_LIMITS[what] })
  })

  test("events, unfinished tool calls, attachments and the bytes of rows each have a limit", () => {
    const budget = createImportBudget()
    for (let n = 0; n < 250_000; n++) budget.record()
    expect(codeOf(budget.record)).toMatchObject({ what: "events", limit: 250_000 })
    expect(codeOf(() => budget.openToolCalls(1_000))).toBeNull()
    expect(codeOf(() => budget.openToolCalls(1_001))).toMatchObject({ what: "open_tool_calls" })
    expect(codeOf(() => budget.take(queued, IMPORT_LIMITS.row_bytes + 1))).toMatchObject({ what: "row_bytes" })
    const file = { id: "att_1", name: "a", mime_type: "text/plain", bytes: 1, sha256: "0".repeat(64) }
    const message: SessionEvent = { ...at, kind: "message.user", message_id: "m", content: "", prompt_id: "p", attachments: [file] }
    for (let n = 0; n < 10_000; n++) budget.take(message, 1)
    expect(codeOf(() => budget.take(message, 1))).toMatchObject({ what: "attachments" })
  })

  test("an upload is read up to 512 MB and no further", async () => {
    const piece = new Uint8Array(64 * 1024 * 1024)
    let given = 0
    async function* endless() {
      for (;;) {
        given += 1
        yield piece
      }
    }
    const read = async () => {
      for await (const _chunk of withinBytes(endless()));
    }
    await expect(read()).rejects.toMatchObject({ code: "PAYLOAD_TOO_LARGE", details: { limit_bytes: 512 * 1024 * 1024 } })
    expect(given).toBe(9)
  })
})

describe("how deep JSON is nested", () => {
  test.each([
    ['{"a":[1,{"b":2}]}', 3],
    ['"[[[["', 0],
    ['["\\"[[[", "\\\\", []]', 2],
    ["1", 0],
    ["[[]", 2],
  ])("%s: %i", (text, depth) => {
    expect(isDeeperThan(text, depth)).toBe(false)
    if (depth > 0) expect(isDeeperThan(text, depth - 1)).toBe(true)
  })

  test("a hundred thousand levels are found without overflowing the stack", () => {
    expect(isDeeperThan("[".repeat(100_000), 64)).toBe(true)
  })
})

/** With a search through all rows for each event, this would take minutes. */
test("a log of a hundred thousand prompts is replayed", () => {
  const replay = createReplay({
    session: { id: "sess_1", task_id: 1, last_seq: 0, state: "CREATED" },
    executor: { id: "exe_1", session_id: "sess_1" },
  })
  const count = 100_000
  const prompt = { message_id: "m", content: "x", client_message_id: null }
  for (let n = 1; n <= count; n++) replay.take({ ...at, ...prompt, seq: n, kind: "prompt.queued", prompt_id: `p${n}`, rank: n })
  for (let n = 1; n <= count; n++) replay.take({ ...at, seq: count + n, kind: "prompt.withdrawn", prompt_id: `p${n}` })
  expect(replay.rows().prompts.filter(({ state }) => state === "withdrawn")).toHaveLength(count)
  expect(replay.surprises).toEqual([])
})

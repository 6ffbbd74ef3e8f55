import fc from "fast-check"
import { describe, expect, test } from "vitest"
import type { NewEvent, SessionEvent, ToolStatus } from "../../../lib/contracts/events"
import { closeAll, closeMessage, foldOpenItems, NOTHING_OPEN } from "../../../server/execution/open-items"

const place = (event: NewEvent, seq: number) =>
  ({ session_id: "sess_1", ts: "2026-01-01T00:00:00.000Z", v: 1, seq, ...event }) as SessionEvent
const tool = (tool_call_id: string, status: ToolStatus): NewEvent => ({
  ...{ kind: "tool.call", run_id: "run_1", tool_call_id, status },
  ...{ title: "t", tool_kind: "execute", output: [], locations: [] },
})
const update = (tool_call_id: string, status?: ToolStatus): NewEvent => ({
  ...{ kind: "tool.update", run_id: "run_1", tool_call_id },
  ...(status ? { status } : {}),
})

type Message = { id: string; role: "agent" | "thought"; text: string; first: number; last: number }
const OPEN: ToolStatus[] = ["pending", "in_progress"]
const ENDED: ToolStatus[] = ["completed", "failed", "interrupted"]
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      act: fc.constant("say" as const),
      text: fc.string(),
      role: fc.constantFrom("agent" as const, "thought" as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ act: fc.constant("close" as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      act: fc.constant("call" as const),
      id: fc.constantFrom("a", "b", "c"),
      status: fc.constantFrom(...OPEN, ...ENDED),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      act: fc.constant("update" as const),
      id: fc.constantFrom("a", "b", "c"),
      status: fc.constantFrom(...OPEN, ...ENDED, undefined),
    }),
  },
)

describe("what a log has begun and not finished", () => {
  test("closing after any prefix gives the concatenated deltas, and marks exactly the tools still open as interrupted", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), fc.boolean(), (steps, partial) => {
        let items = NOTHING_OPEN
        let message = null as Message | null
        const tools = new Set<string>()
        let seq = 0
        const take = (event: NewEvent) => {
          seq += 1
          items = foldOpenItems(items, place(event, seq))
        }
        for (const one of steps) {
          if (one.act === "say") {
            // Another role is another message; the one before is closed first, as ingest does.
            if (message && message.role !== one.role) {
              for (const event of closeMessage(items, false)) take(event)
              message = null
            }
            const grown: Message = message ?? { id: `msg_${seq}`, role: one.role, text: "", first: seq + 1, last: 0 }
            take({ kind: "message.delta", run_id: "run_1", message_id: grown.id, role: one.role, content: one.text })
            message = { ...grown, text: grown.text + one.text, last: seq }
          } else if (one.act === "close") {
            for (const event of closeMessage(items, false)) take(event)
            message = null
          } else if (one.act === "call") {
            take(tool(one.id, one.status))
            if (OPEN.includes(one.status)) tools.add(one.id)
          } else {
            take(update(one.id, one.status))
            if (one.status && ENDED.includes(one.status)) tools.delete(one.id)
          }
        }
        const closing = closeAll(items, partial)
        const [said, rest] = message ? [closing[0], closing.slice(1)] : [undefined, closing]
        if (message) {
          expect(said).toEqual({
            kind: message.role === "agent" ? "message.agent" : "message.thought",
            ...{ message_id: message.id, run_id: "run_1", content: message.text, first_seq: message.first, last_seq: message.last },
            ...(partial ? { partial: true } : {}),
          })
        }
        expect(rest).toHaveLength(tools.size)
        expect(new Set(rest.map((event) => (event.kind === "tool.update" ? `${event.tool_call_id} ${event.status}` : event.kind)))).toEqual(
          new Set([...tools].map((id) => `${id} interrupted`)),
        )
        // Once its closing is in the log, nothing is open: a second closing would repeat the end of a run.
        for (const event of closing) take(event)
        expect(closeAll(items, partial)).toEqual([])
      }),
      { numRuns: 500 },
    )
  })

  test("folding keeps what it was given: a replay from the same start gives the same", () => {
    const before = foldOpenItems(NOTHING_OPEN, place(tool("a", "pending"), 1))
    foldOpenItems(before, place(update("a", "completed"), 2))
    expect([...before.tools.keys()]).toEqual(["a"])
    expect(NOTHING_OPEN.tools.size).toBe(0)
  })
})

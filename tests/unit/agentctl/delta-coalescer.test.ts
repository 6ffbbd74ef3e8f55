import { beforeEach, expect, test } from "vitest"
import { type Delta, DeltaCoalescer, type Timers } from "../../../server/agentctl/delta-coalescer"

let now = 0
let due: { at: number; job: () => void }[] = []
let sent: Delta[] = []
let ids = 0
let overflowed: string[] = []
let ended = 0
const timers: Timers = {
  now: () => now,
  after: (ms, job) => {
    const timer = { at: now + ms, job }
    due.push(timer)
    return () => {
      due = due.filter((t) => t !== timer)
    }
  },
}
const pass = (ms: number) => {
  now += ms
  const ready = due.filter((t) => t.at <= now)
  due = due.filter((t) => t.at > now)
  for (const { job } of ready) job()
}
let coalescer: DeltaCoalescer
beforeEach(() => {
  now = 0
  due = []
  sent = []
  ids = 0
  overflowed = []
  ended = 0
  coalescer = new DeltaCoalescer(
    {
      emit: (delta) => sent.push(delta),
      overflow: (text) => overflowed.push(text),
      ended: () => {
        ended += 1
      },
    },
    () => `msg_${++ids}`,
    timers,
  )
})
const texts = () => sent.map((d) => d.content)

test("the first text after a silence goes at once, the next waits for company", () => {
  coalescer.push("agent", "a")
  coalescer.push("agent", "b")
  pass(10)
  coalescer.push("agent", "c")
  expect(texts()).toEqual(["a"])
  pass(20)
  expect(texts()).toEqual(["a", "bc"])
  pass(100)
  coalescer.push("agent", "d")
  expect(texts()).toEqual(["a", "bc", "d"])
})

test("much text does not wait", () => {
  coalescer.push("agent", "a")
  coalescer.push("agent", "x".repeat(4096))
  expect(sent).toHaveLength(2)
})

test("another role, another message of the agent's own, or something in between begins a new message", () => {
  coalescer.push("thought", "a")
  coalescer.push("agent", "b", "m1")
  coalescer.push("agent", "c", "m1")
  coalescer.push("agent", "d", "m2")
  coalescer.endMessage()
  coalescer.push("agent", "e", "m2")
  coalescer.flush()
  expect(sent.map((d) => `${d.message_id} ${d.role} ${d.content}`)).toEqual([
    "msg_1 thought a",
    "msg_2 agent bc",
    "msg_3 agent d",
    "msg_4 agent e",
  ])
})

test("an enormous chunk is divided between characters, never within one", () => {
  const text = `${"a".repeat(256 * 1024 - 1)}😀${"b".repeat(10)}`
  coalescer.push("agent", text)
  expect(sent.length).toBeGreaterThan(1)
  expect(texts().join("")).toBe(text)
  for (const piece of texts()) expect(Buffer.from(piece, "utf8").toString("utf8")).toBe(piece)
})

test("a message holds four million characters; the rest overflows in order, and the next message begins anew", () => {
  const limit = 4 * 1024 * 1024
  coalescer.push("agent", "x".repeat(limit - 1))
  coalescer.push("agent", "\u{1f600}abc")
  coalescer.push("agent", "def")
  expect(texts().join("")).toHaveLength(limit - 1)
  expect(overflowed).toEqual(["\u{1f600}abc", "def"])
  expect(ended).toBe(0)
  coalescer.endMessage()
  expect(ended).toBe(1)
  coalescer.push("agent", "new")
  coalescer.endMessage()
  expect(sent.at(-1)).toMatchObject({ message_id: "msg_2", content: "new" })
  coalescer.endMessage()
  expect(ended).toBe(2)
})

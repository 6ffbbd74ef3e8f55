import fc from "fast-check"
import { describe, expect, test } from "vitest"
import type { SessionEvent } from "../../../lib/contracts/events"
import type { Journal } from "../../../server/journal"
import { createSessionChannel } from "../../../server/realtime"

const PAGE = 500
const event = (seq: number) => ({ session_id: "sess_1", seq, ts: "", v: 1, kind: "token.expired", resume_token_id: "rt" }) as SessionEvent

/** A log whose reads take as long as the test likes: each sees what is committed when it is carried out. */
function slowJournal(log: SessionEvent[]) {
  const reads: (() => void)[] = []
  const journal = {
    read: (_: string, after: number, limit: number) =>
      new Promise<{ events: SessionEvent[]; more: boolean }>((resolve) => {
        // The database takes its snapshot somewhere between question and answer.
        reads.push(() => {
          const events = log.filter((one) => one.seq > after).slice(0, limit)
          reads.push(() => resolve({ events, more: events.length === limit }))
        })
      }),
  } as unknown as Journal
  return { journal, reads }
}
/** A reader who takes what it is given only when told to. */
function slowReader(room: number) {
  const seen: number[] = []
  let unread = 0
  let waiting: (() => void)[] = []
  return {
    seen,
    drain() {
      unread = 0
      const callbacks = waiting
      waiting = []
      for (const callback of callbacks) callback()
    },
    sink: {
      push(one: SessionEvent) {
        unread += 1
        seen.push(one.seq)
      },
      isFull: () => unread > room,
      whenRoom: (callback: () => void) => void waiting.push(callback),
      failed: (error: unknown) => {
        throw error
      },
    },
  }
}
const settle = async () => {
  // A channel that goes on reading lets others have a turn in between.
  for (let i = 0; i < 2; i++) await new Promise(setImmediate)
}

describe("a subscriber of a session", () => {
  test("sees every event after its cursor once and in order, however commits, reads, full buffers and other servers interleave", async () => {
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.record({ act: fc.constant("commit" as const), size: fc.integer({ min: 1, max: 5 }) }) },
      { weight: 2, arbitrary: fc.record({ act: fc.constant("elsewhere" as const), size: fc.integer({ min: 1, max: 3 }) }) },
      { weight: 2, arbitrary: fc.record({ act: fc.constant("notice" as const), size: fc.constant(0) }) },
      { weight: 6, arbitrary: fc.record({ act: fc.constant("read" as const), size: fc.constant(0) }) },
      { weight: 2, arbitrary: fc.record({ act: fc.constant("drain" as const), size: fc.constant(0) }) },
    )
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 1200 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.integer({ min: 0, max: 20 }),
        fc.array(step, { maxLength: 80 }),
        async (before, where, room, steps) => {
          const log = Array.from({ length: before }, (_, i) => event(i + 1))
          const after = Math.floor(before * where)
          const { journal, reads } = slowJournal(log)
          const reader = slowReader(room)
          const channel = createSessionChannel(journal, "sess_1", after, reader.sink)
          void channel.start()
          /** Appended by another server, and not yet told here. */
          const untold: number[] = []
          const append = (size: number) => {
            const events = Array.from({ length: size }, (_, i) => event(log.length + 1 + i))
            log.push(...events)
            return events
          }
          const act = {
            commit: (size: number) => channel.committed(append(size)),
            elsewhere: (size: number) => void untold.push(append(size).at(-1)?.seq ?? 0),
            notice: () => {
              const head = untold.shift()
              if (head !== undefined) channel.grewTo(head)
            },
            read: () => reads.shift()?.(),
            drain: () => reader.drain(),
          }
          for (const { act: name, size } of steps) {
            act[name](size)
            await settle()
          }
          while (untold.length > 0) act.notice()
          for (let i = 0; i < 400 && (reader.seen.at(-1) ?? after) < log.length; i++) {
            reader.drain()
            await settle()
            act.read()
            await settle()
          }
          expect(reader.seen).toEqual(log.map((one) => one.seq).filter((seq) => seq > after))
          channel.close()
        },
      ),
      { numRuns: 300 },
    )
  })

  test("another server's event that was committed just before one of ours is not skipped", async () => {
    const log = [event(1)]
    const { journal, reads } = slowJournal(log)
    const reader = slowReader(100)
    const channel = createSessionChannel(journal, "sess_1", 1, reader.sink)
    const readAll = async () => {
      for (let i = 0; i < 20; i++) {
        reads.shift()?.()
        await settle()
      }
    }
    void channel.start()
    await readAll()
    log.push(event(2), event(3))
    channel.committed([event(3)])
    channel.grewTo(2)
    await readAll()
    expect(reader.seen).toEqual([2, 3])
  })

  test("a log with holes at its end is caught up with, not asked for again and again", async () => {
    const log = Array.from({ length: PAGE }, (_, i) => event(i + 1)).filter(({ seq }) => seq < 100)
    let asked = 0
    const journal = {
      read: async (_: string, after: number) => {
        asked += 1
        if (asked > 50) throw new Error("asked again and again")
        return { events: log.filter(({ seq }) => seq > after), more: false }
      },
    } as unknown as Journal
    const reader = slowReader(1_000)
    const failures: unknown[] = []
    const channel = createSessionChannel(journal, "sess_1", 0, { ...reader.sink, failed: (error) => failures.push(error) })
    // Told of 200, of which the last hundred were removed since.
    channel.committed([event(200)])
    await channel.start()
    expect(failures).toEqual([])
    expect(asked).toBeLessThan(4)
    log.push(event(201))
    channel.committed([event(201)])
    await settle()
    expect(reader.seen.at(-1)).toBe(201)
  })

  test("a full reader's events are not kept for it, and after closing nothing is pushed", async () => {
    const log: SessionEvent[] = []
    const { journal, reads } = slowJournal(log)
    const reader = slowReader(3)
    const channel = createSessionChannel(journal, "sess_1", 0, reader.sink)
    void channel.start()
    for (let i = 0; i < 4; i++) {
      reads.shift()?.()
      await settle()
    }
    for (let seq = 1; seq <= 100; seq++) {
      log.push(event(seq))
      channel.committed([event(seq)])
    }
    expect(reader.seen).toEqual([1, 2, 3, 4])
    channel.close()
    reader.drain()
    await settle()
    channel.committed([event(101)])
    expect(reader.seen).toEqual([1, 2, 3, 4])
    expect(reads).toEqual([])
  })
})

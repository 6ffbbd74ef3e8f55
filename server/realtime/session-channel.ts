import type { SessionEvent } from "../../lib/contracts/events"
import type { Journal } from "../journal"

/** One page of catching up. Larger pages would hold more of a slow reader's events in memory. */
const PAGE = 500

export type Sink = {
  push: (event: SessionEvent) => void
  /** True while the reader has not taken what it was given. */
  isFull: () => boolean
  /** Calls back once, when there is room again. */
  whenRoom: (callback: () => void) => void
  failed: (error: unknown) => void
}

/**
 * One subscriber of one session: every event after its cursor, in order, none missing, none twice. It is either live (pushed
 * straight from the commit) or catching up from the journal; it turns live only in a step that cannot be interrupted, so
 * nothing committed between a query and its answer is lost. A slow reader is caught up later; its events are not kept for it.
 */
export function createSessionChannel(journal: Journal, sessionId: string, after: number, sink: Sink) {
  let cursor = after
  let announced = after
  let live = false
  let reading = false
  let closed = false

  function push(event: SessionEvent) {
    if (event.seq <= cursor) return
    cursor = event.seq
    sink.push(event)
  }

  async function catchUp() {
    if (reading || closed) return
    reading = true
    try {
      while (!closed) {
        if (sink.isFull()) return sink.whenRoom(() => void catchUp())
        const known = announced
        const { events, more } = await journal.read(sessionId, cursor, PAGE)
        if (closed) return
        for (const event of events) push(event)
        // Whatever was announced before the question is in its answer, or was removed; only later news may be missing.
        if (!more && announced === known) {
          live = true
          return
        }
        // A read from a local file ends without leaving the event loop's turn: many readers catching up would hold up everybody else.
        await new Promise(setImmediate)
      }
    } catch (error) {
      sink.failed(error)
    } finally {
      reading = false
    }
  }

  return {
    /** Starts pushing; call it after the acknowledgement has been sent. */
    start: catchUp,
    /** Called after every commit of this session. */
    committed(events: readonly SessionEvent[]) {
      announced = Math.max(announced, events.at(-1)?.seq ?? 0)
      if (!live) return
      if (sink.isFull()) {
        live = false
        sink.whenRoom(() => void catchUp())
        return
      }
      // Another server's event lies between, and only the journal has it.
      if ((events[0]?.seq ?? 0) > cursor + 1) {
        live = false
        void catchUp()
        return
      }
      for (const event of events) push(event)
    },
    /** Another server appended: its events are read from the journal. */
    grewTo(head: number) {
      if (head <= cursor) return
      announced = Math.max(announced, head)
      live = false
      void catchUp()
    },
    close() {
      closed = true
    },
  }
}
export type SessionChannel = ReturnType<typeof createSessionChannel>

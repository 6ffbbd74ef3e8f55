import type { AnswerOf } from "@/lib/contracts/api"
import { isAppError } from "@/lib/contracts/errors"
import type { SessionEvent } from "@/lib/contracts/events"
import type { QueuedPrompt } from "@/lib/contracts/task"
import { call } from "./api"
import { subscribeSession } from "./socket"
import { applyEvents, emptyTranscript } from "./transcript"
import type { Transcript } from "./transcript-items"

/** A larger page shows more at once but delays the first paint of a long session. */
const PAGE = 2000
/** Older pages come by themselves up to here; beyond it, only when the reader scrolls up to them. */
const BACKGROUND_EVENTS = 10_000
const NEWEST = 2_147_483_647
/** A hidden page paints no frames; its title and notifications still want the news. */
const HIDDEN_FLUSH_MS = 250

export type FeedView = {
  readonly phase: "loading" | "ready" | "failed"
  readonly error: Error | null
  readonly transcript: Transcript
  readonly hasOlder: boolean
  readonly loadingOlder: boolean
}
type EventsPage = AnswerOf<"GET /api/v1/sessions/{sessionId}/events">

/** The log of one session in this page: newest page first, then live events exactly once and in order, older pages behind. */
export class SessionFeed {
  private view: FeedView = { phase: "loading", error: null, transcript: emptyTranscript(), hasOlder: false, loadingOlder: false }
  private events: SessionEvent[] = []
  private seed: QueuedPrompt[] = []
  private buffer: SessionEvent[] = []
  private generation: string | null = null
  private epoch = 0
  private flushScheduled = false
  private unsubscribe: (() => void) | null = null
  private readonly listeners = new Set<() => void>()
  private readonly eventListeners = new Set<(events: readonly SessionEvent[]) => void>()

  constructor(readonly sessionId: string) {}

  readonly get = (): FeedView => this.view

  /** The log as far as it is loaded; grows in place. */
  readonly log = (): readonly SessionEvent[] => this.events

  readonly listen = (listener: () => void): (() => void) => {
    this.listeners.add(listener)
    this.open()
    return () => {
      this.listeners.delete(listener)
      if (this.listeners.size === 0) this.close()
    }
  }

  /** Live events, after they were applied. */
  onEvents(listener: (events: readonly SessionEvent[]) => void): () => void {
    this.eventListeners.add(listener)
    return () => this.eventListeners.delete(listener)
  }

  readonly reload = (): void => {
    this.epoch++
    this.unsubscribe?.()
    this.unsubscribe = null
    this.events = []
    this.buffer = []
    this.generation = null
    this.set({ phase: "loading", error: null, transcript: emptyTranscript(), hasOlder: false, loadingOlder: false })
    void this.load()
  }

  readonly loadOlder = async (): Promise<void> => {
    const first = this.events[0]
    if (!first || !this.view.hasOlder || this.view.loadingOlder) return
    const epoch = this.epoch
    this.set({ loadingOlder: true })
    const page = await this.fetchPage(first.seq).catch(() => null)
    if (epoch !== this.epoch) return
    if (!page || page.generation !== this.generation) {
      this.set({ loadingOlder: false })
      return
    }
    this.flush()
    this.events = [...page.events, ...this.events]
    this.set({
      transcript: applyEvents(emptyTranscript(this.seed), this.events),
      hasOlder: page.more,
      loadingOlder: false,
    })
  }

  /** Every older page, folded once at the end: what looks at the whole life of a session waits for all of it anyway. */
  readonly loadAll = async (): Promise<void> => {
    if (!this.view.hasOlder || this.view.loadingOlder) return
    const epoch = this.epoch
    this.set({ loadingOlder: true })
    const older: SessionEvent[][] = []
    let complete = false
    for (let more = true; more; ) {
      const first = older[0]?.[0] ?? this.events[0]
      const page = first ? await this.fetchPage(first.seq).catch(() => null) : null
      if (epoch !== this.epoch) return
      if (!page || page.generation !== this.generation) break
      older.unshift(page.events)
      more = page.more
      complete = !more
    }
    this.flush()
    this.events = [...older.flat(), ...this.events]
    this.set({ transcript: applyEvents(emptyTranscript(this.seed), this.events), hasOlder: !complete, loadingOlder: false })
  }

  private open(): void {
    if (this.unsubscribe) return
    if (this.view.phase === "ready") this.follow()
    else void this.load()
  }

  private close(): void {
    this.epoch++
    this.unsubscribe?.()
    this.unsubscribe = null
    this.flush()
    if (this.view.loadingOlder) this.set({ loadingOlder: false })
  }

  private async load(): Promise<void> {
    const epoch = ++this.epoch
    try {
      const [page, queue] = await Promise.all([
        this.fetchPage(NEWEST),
        call("GET /api/v1/sessions/{sessionId}/queue", { params: { sessionId: this.sessionId } }),
      ])
      if (epoch !== this.epoch) return
      this.generation = page.generation
      this.events = page.events
      const hasOlder = page.more
      this.seed = hasOlder ? queue.prompts : []
      this.set({ phase: "ready", error: null, transcript: applyEvents(emptyTranscript(this.seed), this.events), hasOlder })
      this.follow()
      void this.loadBackground(epoch)
    } catch (error) {
      if (epoch === this.epoch) this.set({ phase: "failed", error: error as Error })
    }
  }

  private async loadBackground(epoch: number): Promise<void> {
    while (epoch === this.epoch && this.view.hasOlder && this.events.length < BACKGROUND_EVENTS) {
      const before = this.events.length
      await this.loadOlder()
      if (this.events.length === before) return
    }
  }

  private fetchPage(before: number): Promise<EventsPage> {
    return call("GET /api/v1/sessions/{sessionId}/events", { params: { sessionId: this.sessionId }, query: { before, limit: PAGE } })
  }

  private follow(): void {
    this.unsubscribe = subscribeSession(this.sessionId, {
      cursor: () => ({ after_seq: this.lastSeq(), ...(this.generation === null ? {} : { generation: this.generation }) }),
      onEvent: (event) => this.receive(event),
      onSubscribed: ({ generation }) => {
        // Another generation is another log: nothing of what is shown may be mixed with it.
        if (this.generation !== null && generation !== this.generation) this.reload()
      },
      onRefused: (error) => {
        if (isAppError(error) && error.code === "CURSOR_AHEAD") this.reload()
        else this.set({ phase: "failed", error })
      },
    })
  }

  private lastSeq(): number {
    return this.buffer.at(-1)?.seq ?? this.view.transcript.lastSeq
  }

  private receive(event: SessionEvent): void {
    if (event.seq <= this.lastSeq()) return
    this.buffer.push(event)
    if (this.flushScheduled) return
    this.flushScheduled = true
    if (document.hidden) setTimeout(this.flush, HIDDEN_FLUSH_MS)
    else requestAnimationFrame(this.flush)
  }

  private readonly flush = (): void => {
    this.flushScheduled = false
    if (this.buffer.length === 0) return
    const batch = this.buffer
    this.buffer = []
    this.events.push(...batch)
    this.set({ transcript: applyEvents(this.view.transcript, batch) })
    for (const listener of this.eventListeners) listener(batch)
  }

  private set(change: Partial<FeedView>): void {
    this.view = { ...this.view, ...change }
    for (const listener of this.listeners) listener()
  }
}

/** Feeds of sessions seen lately stay in memory, so that going back shows them at once. */
const KEPT_FEEDS = 8
const feeds = new Map<string, SessionFeed>()

export function feedOf(sessionId: string): SessionFeed {
  const feed = feeds.get(sessionId) ?? new SessionFeed(sessionId)
  feeds.delete(sessionId)
  feeds.set(sessionId, feed)
  for (const oldest of feeds.keys()) {
    if (feeds.size <= KEPT_FEEDS) break
    feeds.delete(oldest)
  }
  return feed
}

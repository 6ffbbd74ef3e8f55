export type Role = "agent" | "thought"
export interface Delta {
  message_id: string
  role: Role
  content: string
}
export interface Timers {
  now(): number
  after(ms: number, job: () => void): () => void
}
export const realTimers: Timers = {
  now: () => performance.now(),
  after: (ms, job) => {
    const timer = setTimeout(job, ms)
    return () => clearTimeout(timer)
  },
}

/** Text waits at most this long; longer feels slow, shorter makes a record of every token. */
const MAX_WAIT_MS = 30
const FLUSH_LENGTH = 4096
/** One chunk of a careless agent must not make a record that is too large to keep. */
const MAX_PIECE = 256 * 1024
/** A message is held whole wherever it is shown or handed on; what an agent says beyond this is not part of it. */
const MAX_MESSAGE = 4 * 1024 * 1024

export interface DeltaSink {
  emit(delta: Delta): void
  /** What did not fit into the message any more, in order. */
  overflow(text: string): void
  /** Of a message of which something was emitted. */
  ended(): void
}

/** Joins streamed text: the first piece after a silence goes at once, then pieces of about 30 ms or 4 KiB. */
export class DeltaCoalescer {
  private open: { message_id: string; role: Role; theirs: string | null; length: number } | null = null
  private held = ""
  private lastSent = Number.NEGATIVE_INFINITY
  private cancelTimer: (() => void) | null = null

  constructor(
    private readonly sink: DeltaSink,
    private readonly newId: () => string,
    private readonly timers: Timers = realTimers,
  ) {}

  /** `theirs` is the agent's own message id, if it gives one: another id is another message. */
  push(role: Role, text: string, theirs: string | null = null): void {
    if (text === "") return
    if (this.open && (this.open.role !== role || (theirs !== null && this.open.theirs !== null && theirs !== this.open.theirs)))
      this.endMessage()
    this.open ??= { message_id: this.newId(), role, theirs, length: 0 }
    const room = MAX_MESSAGE - this.open.length
    const fits = room >= text.length ? text : text.slice(0, wholeUpTo(text, room))
    if (fits.length < text.length) this.sink.overflow(text.slice(fits.length))
    // Full from the first overflow on: a later piece that would still fit must not go before what did not.
    this.open.length = fits.length < text.length ? MAX_MESSAGE : this.open.length + fits.length
    this.held += fits
    const silence = this.timers.now() - this.lastSent
    if (silence >= MAX_WAIT_MS || this.held.length >= FLUSH_LENGTH) this.flush()
    else this.cancelTimer ??= this.timers.after(MAX_WAIT_MS - silence, () => this.flush())
  }

  flush(): void {
    this.cancelTimer?.()
    this.cancelTimer = null
    if (this.held === "" || !this.open) return
    const { message_id, role } = this.open
    const text = this.held
    this.held = ""
    this.lastSent = this.timers.now()
    for (const content of pieces(text)) this.sink.emit({ message_id, role, content })
  }

  /** Something else comes now, or the turn is over: the next text is a new message. */
  endMessage(): void {
    this.flush()
    if (this.open) this.sink.ended()
    this.open = null
  }
}

/** The last place up to `end` that does not split a surrogate pair, half of which cannot be written as UTF-8. */
const wholeUpTo = (text: string, end: number): number => (end > 0 && /[\uD800-\uDBFF]/.test(text.charAt(end - 1)) ? end - 1 : end)

function* pieces(text: string): Generator<string> {
  for (let at = 0; at < text.length; ) {
    const limit = at + MAX_PIECE
    const end = limit >= text.length ? text.length : wholeUpTo(text, limit)
    yield text.slice(at, end)
    at = end
  }
}

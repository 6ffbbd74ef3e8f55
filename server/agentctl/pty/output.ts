import { setTimeout as delay } from "node:timers/promises"
import { messageOf } from "../failure"
import type { Log } from "../log"
import type { Size } from "./screen"
import type { ScreenKeeper } from "./screen-keeper"
import type { Scrollback, ScrollbackReader } from "./scrollback"

/** The program is held back when disk, screen or the fastest viewer are behind by more than HELD, and let go below RELEASED. */
const HELD_BYTES = 512 * 1024
const RELEASED_BYTES = 128 * 1024
/** A viewer that takes nothing for this long no longer holds the program back; it reads from disk, or is cut off. */
const STALLED_MS = 3000
const BATCH_BYTES = 256 * 1024
/** The first output after a silence goes at once; what pours is gathered, for every batch costs the same. */
const GATHER_MS = 4
const GATHER_BYTES = 64 * 1024
/** The newest output, for viewers that keep up: they cost no reading. */
const RECENT_BYTES = 512 * 1024
const RETRY_WRITE_MS = 1000
/** Without output for so long, the screen is kept on disk and old segments are compressed. */
const QUIET_MS = 1000
const PUT_AWAY_MS = 10_000

/** Where an epoch's output ends; null while its process may still write. */
export interface EpochEnd {
  offset: number | null
}

interface OutputOptions {
  scrollback: Scrollback
  screen: ScreenKeeper
  hold(): void
  release(): void
  /** In its place between the bytes before it and those after, which are shown only when it is kept: nobody could draw them again. */
  sized(offset: number, size: Size): Promise<void>
  quiet(): void
  log: Log
}

/** From the process to disk, then to screen and viewers: nothing is shown that a killed daemon would have lost. */
export class Output {
  private pending: (Buffer | Size)[] = []
  private pendingBytes = 0
  private flushing: Promise<void> | null = null
  private flushedAt = 0
  private gathered: (() => void) | null = null
  private recent: { offset: number; bytes: Buffer }[] = []
  private recentBytes = 0
  private readonly viewers = new Set<Viewer>()
  private waiting: (() => void)[] = []
  private held = false
  private stallTimer: NodeJS.Timeout | null = null
  private quietTimer: NodeJS.Timeout | null = null
  private putAwayTimer: NodeJS.Timeout | null = null
  closed = false

  constructor(readonly options: OutputOptions) {}

  get head(): number {
    return this.options.scrollback.head
  }

  get isWatched(): boolean {
    return this.viewers.size > 0
  }

  /** Copies: the caller's buffer is used again. */
  take(bytes: Buffer): void {
    this.pendingBytes += bytes.length
    this.push(Buffer.from(bytes))
    this.control()
  }

  size(size: Size): void {
    this.push(size)
  }

  async flushed(): Promise<void> {
    while (this.flushing) await this.flushing
  }

  attach(offset: number, end: EpochEnd, skips: boolean): Viewer {
    const viewer = new Viewer(this, offset, end, skips)
    this.viewers.add(viewer)
    this.control()
    return viewer
  }

  detach(viewer: Viewer): void {
    this.viewers.delete(viewer)
    this.control()
  }

  /** Wakes viewers, also when no output came: the epoch has ended, or the connection. */
  tell(): void {
    for (const resolve of this.waiting.splice(0)) resolve()
  }

  changed(): Promise<void> {
    return new Promise((resolve) => this.waiting.push(resolve))
  }

  recentAt(offset: number): Buffer | null {
    const found = this.recent.findLast((batch) => batch.offset <= offset)
    return found && offset < found.offset + found.bytes.length ? found.bytes.subarray(offset - found.offset) : null
  }

  control = (): void => {
    const behind = Math.max(this.pendingBytes, this.options.screen.behind, this.viewersBehind())
    if (!this.held && behind > HELD_BYTES) {
      this.held = true
      this.options.hold()
    } else if (this.held && behind < RELEASED_BYTES) {
      this.held = false
      this.options.release()
    }
    if (this.held && !this.stallTimer) {
      this.stallTimer = setTimeout(() => {
        this.stallTimer = null
        this.control()
      }, STALLED_MS)
    }
  }

  async close(): Promise<void> {
    this.closed = true
    this.tell()
    for (const timer of [this.stallTimer, this.quietTimer, this.putAwayTimer]) if (timer) clearTimeout(timer)
    await this.flushed()
    await this.options.screen.keep().catch(() => undefined)
    this.options.screen.close()
    await this.options.scrollback.close()
  }

  private push(item: Buffer | Size): void {
    this.pending.push(item)
    this.flushing ??= this.flush()
    if (this.pendingBytes >= GATHER_BYTES) this.gathered?.()
  }

  private gather(): Promise<void> {
    const pours = performance.now() - this.flushedAt < GATHER_MS
    if (!pours || this.pendingBytes >= GATHER_BYTES) return new Promise((resolve) => setImmediate(resolve))
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, GATHER_MS)
      this.gathered = () => {
        this.gathered = null
        clearTimeout(timer)
        resolve()
      }
    })
  }

  private async flush(): Promise<void> {
    const { scrollback, screen } = this.options
    while (this.pending.length > 0) {
      await this.gather()
      const item = this.nextBatch()
      if (Buffer.isBuffer(item)) {
        const offset = scrollback.head
        await this.append(item)
        this.pendingBytes -= item.length
        this.flushedAt = performance.now()
        this.publish(offset, item)
      } else if (item) {
        await this.options.sized(scrollback.head, item)
        screen.resize(item)
      }
    }
    this.flushing = null
    this.beQuietSoon()
  }

  /** On a full disk the program is held back until there is room. */
  private async append(bytes: Buffer): Promise<void> {
    const start = this.head
    for (;;) {
      try {
        return await this.options.scrollback.append(bytes.subarray(this.head - start))
      } catch (error) {
        this.options.log.warn("pty.output_not_written", { message: messageOf(error) })
        if (this.closed) return
        await delay(RETRY_WRITE_MS)
      }
    }
  }

  private nextBatch(): Buffer | Size | undefined {
    const [first] = this.pending
    if (first === undefined) return undefined
    if (!Buffer.isBuffer(first)) {
      // Of sizes between the same bytes only the last is kept, and so drawn again.
      while (this.pending[1] && !Buffer.isBuffer(this.pending[1])) this.pending.shift()
      return this.pending.shift()
    }
    let count = 0
    for (let bytes = 0; bytes < BATCH_BYTES; count++) {
      const item = this.pending[count]
      if (!item || !Buffer.isBuffer(item)) break
      bytes += item.length
    }
    const items = this.pending.splice(0, count) as Buffer[]
    return items.length === 1 ? first : Buffer.concat(items)
  }

  private publish(offset: number, bytes: Buffer): void {
    const now = Date.now()
    for (const viewer of this.viewers) if (viewer.offset === offset) viewer.movedAt = now
    if (this.viewers.size > 0) {
      this.recent.push({ offset, bytes })
      this.recentBytes += bytes.length
      while (this.recentBytes > RECENT_BYTES && this.recent.length > 1) this.recentBytes -= this.recent.shift()?.bytes.length ?? 0
    }
    this.tell()
    this.options.screen.wrote(bytes)
    this.control()
  }

  private viewersBehind(): number {
    const now = Date.now()
    const holding = [...this.viewers].filter((viewer) => !viewer.skips && now - viewer.movedAt < STALLED_MS)
    const distances = holding.map((viewer) => this.head - viewer.offset)
    return distances.length > 0 ? Math.min(...distances) : 0
  }

  private beQuietSoon(): void {
    if (this.putAwayTimer) clearTimeout(this.putAwayTimer)
    this.putAwayTimer = null
    if (this.quietTimer) this.quietTimer.refresh()
    else if (!this.closed) this.quietTimer = setTimeout(() => this.beQuiet(), QUIET_MS)
  }

  private beQuiet(): void {
    const { quiet, scrollback, screen } = this.options
    this.quietTimer = null
    this.recent = []
    this.recentBytes = 0
    quiet()
    scrollback.pack().catch(() => undefined)
    screen.keep().catch(() => undefined)
    this.putAwayTimer = setTimeout(() => screen.putAway().catch(() => undefined), PUT_AWAY_MS)
  }
}

/** One viewer's place in the output. It reads at its own pace: what it has not taken waits on disk. */
export class Viewer {
  movedAt = Date.now()
  private readonly reader: ScrollbackReader

  constructor(
    private readonly output: Output,
    public offset: number,
    private readonly end: EpochEnd,
    /** It goes on from the screen when it falls behind: nothing has to wait for it. */
    readonly skips: boolean,
  ) {
    this.reader = output.options.scrollback.reader()
  }

  /** What follows; null when the epoch has ended, when this place has been cut off, or when the viewer has `gone`. */
  async next(gone: AbortSignal): Promise<Buffer | null> {
    while (!gone.aborted && !this.output.closed) {
      const limit = this.end.offset ?? this.output.head
      if (this.offset < limit) {
        const bytes = this.output.recentAt(this.offset) ?? (await this.reader.read(this.offset))
        return bytes?.subarray(0, limit - this.offset) ?? null
      }
      if (this.end.offset !== null) return null
      await this.output.changed()
    }
    return null
  }

  took(bytes: number): void {
    this.offset += bytes
    this.movedAt = Date.now()
    this.output.control()
  }

  wake(): void {
    this.output.tell()
  }

  async leave(): Promise<void> {
    this.output.detach(this)
    await this.reader.close()
  }
}

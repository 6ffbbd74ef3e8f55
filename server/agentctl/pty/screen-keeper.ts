import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { z } from "zod"
import { replaceFile } from "../durable-file"
import { createSerial } from "../serial"
import { Screen, type Size } from "./screen"
import type { Scrollback } from "./scrollback"

/** While output pours, the screen is kept this often, so that drawing it again after a kill stays short. */
const CHECKPOINT_BYTES = 8 * 1024 * 1024
/** Without a kept screen, or with one older than this, only the newest output is drawn again. */
const REDRAW_BYTES = 10 * 1024 * 1024

const Kept = z.object({ offset: z.number().int(), cols: z.number().int(), rows: z.number().int(), title: z.string().nullable() })
export interface SizeChange extends Size {
  offset: number
}

interface KeeperOptions {
  folder: string
  scrollback: Scrollback
  /** In the order of their offsets; the last one is the size now. */
  sizes(): SizeChange[]
  answer(bytes: Buffer): void
  caughtUp(): void
}

/**
 * The screen at the head of the scrollback. It exists while output comes; afterwards a drawing of it lies on disk, and it is drawn
 * again from there when it is needed. A program's question drawn a second time is not answered a second time.
 */
export class ScreenKeeper {
  title: string | null = null
  private screen: Screen | null = null
  private building: Promise<Screen> | null = null
  private position = 0
  private keptAt = -1
  private closed = false
  /** What lies before was drawn once, by this daemon or an earlier one, and its questions were answered then. */
  private answered: number
  private readonly serial = createSerial()

  constructor(private readonly options: KeeperOptions) {
    this.answered = options.scrollback.head
  }

  /** How much the drawing lags behind the output. */
  get behind(): number {
    return this.building ? this.options.scrollback.head - this.position : (this.screen?.behind ?? 0)
  }

  wrote(bytes: Buffer): void {
    if (this.screen) this.screen.write(bytes)
    else this.get().catch(() => undefined)
  }

  resize(size: Size): void {
    this.screen?.resize(size)
  }

  get(): Promise<Screen> {
    if (this.screen) return Promise.resolve(this.screen)
    this.building ??= this.build().finally(() => {
      this.building = null
      this.options.caughtUp()
    })
    return this.building
  }

  /** Draws it to disk, if it has changed since the last time. */
  keep(): Promise<void> {
    return this.serial(async () => {
      const { screen } = this
      if (!screen || screen.offset === this.keptAt) return
      const { offset, title } = screen
      const head = JSON.stringify({ offset, title, ...screen.size } satisfies z.infer<typeof Kept>)
      await replaceFile(this.file, Buffer.concat([Buffer.from(`${head}\n`), screen.snapshot()]))
      this.keptAt = offset
    })
  }

  /** Frees its memory, unless something came since it was kept. */
  async putAway(): Promise<void> {
    await this.keep()
    const { screen } = this
    if (!screen || screen.behind > 0 || screen.offset !== this.keptAt) return
    this.screen = null
    screen.dispose()
  }

  close(): void {
    this.closed = true
    this.screen?.dispose()
    this.screen = null
  }

  private get file(): string {
    return join(this.options.folder, "screen")
  }

  private async build(): Promise<Screen> {
    const { scrollback } = this.options
    const kept = await this.readKept()
    const start = kept?.offset ?? Math.max(scrollback.first, scrollback.head - REDRAW_BYTES)
    const screen: Screen = new Screen(kept ?? this.sizeAt(start), start, {
      answer: (bytes) => screen.offset >= this.answered && this.options.answer(bytes),
      drew: () => this.drew(screen),
    })
    screen.title = kept?.title ?? null
    if (kept) await screen.draw(kept.drawing)
    const reader = scrollback.reader()
    this.position = start
    let size: Size = screen.size
    for (;;) {
      const due = this.sizeAt(this.position)
      if (due.cols !== size.cols || due.rows !== size.rows) screen.resize(due)
      size = due
      if (this.position === scrollback.head) {
        await screen.settled()
        // Nothing is awaited between this look and its being in use: what comes now is written to it directly.
        if (this.position === scrollback.head && this.sizeAt(this.position) === due) break
        continue
      }
      const bytes = await reader.read(this.position, this.pieceEnd(this.position) - this.position)
      if (bytes === null || this.closed) this.position = Math.max(scrollback.first, scrollback.head)
      else {
        screen.write(bytes)
        this.position += bytes.length
        if (screen.behind > 1024 * 1024) await screen.settled()
      }
    }
    this.keptAt = kept?.offset ?? -1
    if (!this.closed) this.screen = screen
    await reader.close()
    return screen
  }

  private drew(screen: Screen): void {
    this.answered = Math.max(this.answered, screen.offset)
    this.title = screen.title
    if (screen === this.screen && screen.offset - Math.max(this.keptAt, 0) > CHECKPOINT_BYTES) void this.keep().catch(() => undefined)
    this.options.caughtUp()
  }

  private sizeAt(offset: number): SizeChange {
    const sizes = this.options.sizes()
    return sizes.findLast((size) => size.offset <= offset) ?? sizes[0] ?? { offset: 0, cols: 80, rows: 24 }
  }

  /** Where the next piece to draw must end: before another size, and before what was never drawn. */
  private pieceEnd(offset: number): number {
    const ends = [...this.options.sizes().map((size) => size.offset), this.answered].filter((end) => end > offset)
    return Math.min(...ends, offset + 64 * 1024)
  }

  private async readKept() {
    try {
      const bytes = await readFile(this.file)
      const line = bytes.indexOf(0x0a)
      const kept = Kept.parse(JSON.parse(bytes.subarray(0, line).toString("utf8")))
      const { first, head } = this.options.scrollback
      // One from beyond the head belongs to output that a power cut took.
      if (kept.offset < first || kept.offset > head || head - kept.offset > REDRAW_BYTES) return null
      return { ...kept, drawing: bytes.subarray(line + 1) }
    } catch {
      return null
    }
  }
}

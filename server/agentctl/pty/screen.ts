import { SerializeAddon } from "@xterm/addon-serialize"
import { type IBuffer, Terminal } from "@xterm/headless"
import { drawableLength } from "./sequence-cut"

/** Lines above the screen that a snapshot holds; what is older is paged from the scrollback. */
const SNAPSHOT_LINES = 1000

export interface Size {
  cols: number
  rows: number
}

/** What xterm knows and its serialiser leaves out. */
interface Core {
  buffer: Record<"scrollTop" | "scrollBottom" | "x" | "y" | "ybase" | "savedX" | "savedY", number> & { tabs: Record<number, boolean> }
  _charsetService: { glevel: number; _charsets: (Record<string, string> | undefined)[] }
  coreService: {
    isCursorHidden: boolean
    decPrivateModes: { cursorStyle?: string | undefined; cursorBlink?: boolean | undefined }
  }
  coreMouseService: { activeEncoding: string }
}

/** Its public form knows only the normal buffer. */
interface RangeSerializer {
  _serializeBufferByRange(terminal: Terminal, buffer: IBuffer, range: { start: number; end: number }, keepCursor: boolean): string
}

/** The screen of one terminal as its bytes have drawn it so far. */
export class Screen {
  title: string | null = null
  private readonly terminal: Terminal
  private readonly serializer = new SerializeAddon()
  private held = Buffer.alloc(0)
  private waiting: (Buffer | Size)[] = []
  private working = false
  private idle: (() => void)[] = []
  /** Bytes that were given and are not drawn yet. */
  behind = 0

  /** `offset` is where the bytes it is given begin; `answer` gets what a terminal says when a program asks it about itself. */
  constructor(
    { cols, rows }: Size,
    public offset: number,
    private readonly told: { answer(bytes: Buffer): void; drew(): void },
  ) {
    this.terminal = new Terminal({ cols, rows, scrollback: SNAPSHOT_LINES, allowProposedApi: true, logLevel: "off" })
    this.terminal.loadAddon(this.serializer as never)
    this.terminal.onTitleChange((title) => {
      this.title = title.slice(0, 200)
    })
    this.terminal.onData((text) => told.answer(Buffer.from(text, "utf8")))
    this.terminal.onBinary((text) => told.answer(Buffer.from(text, "latin1")))
  }

  get size(): Size {
    return { cols: this.terminal.cols, rows: this.terminal.rows }
  }

  get isAlternate(): boolean {
    return this.terminal.buffer.active.type === "alternate"
  }

  /** A screen as `snapshot` gave it; it belongs to no offset. */
  draw(snapshot: Buffer): Promise<void> {
    return new Promise((resolve) => this.terminal.write(snapshot, resolve))
  }

  write(bytes: Buffer): void {
    this.behind += bytes.length
    this.waiting.push(bytes)
    if (!this.working) this.work()
  }

  /** In its turn: what came before it was drawn for the old size. */
  resize(size: Size): void {
    this.waiting.push(size)
    if (!this.working) this.work()
  }

  async settled(): Promise<void> {
    if (this.working) await new Promise<void>((resolve) => this.idle.push(resolve))
  }

  /** Rows of the screen down to the last one that holds anything. */
  usedRows(): number {
    const { active } = this.terminal.buffer
    for (let row = this.terminal.rows - 1; row >= 0; row--) {
      if (active.getLine(active.baseY + row)?.translateToString(true)) return row + 1
    }
    return 0
  }

  /** Bytes that draw it in a terminal of the same size, whatever was there before; the raw output from `offset` follows on. */
  snapshot(): Buffer {
    const { buffer, coreService, coreMouseService, _charsetService } = (this.terminal as unknown as { _core: Core })._core
    const { cols, rows } = this.terminal
    let text = `\x1bc${this.serializer.serialize({ scrollback: SNAPSHOT_LINES })}`
    const { originMode } = this.terminal.modes
    const region = buffer.scrollTop !== 0 || buffer.scrollBottom !== rows - 1
    text += tabStops(buffer.tabs, cols)
    if (buffer.savedX > 0 || buffer.savedY > 0) {
      const save = `${cursorTo(buffer.savedY - buffer.ybase, Math.min(buffer.savedX, cols - 1))}\x1b7`
      text += originMode ? `\x1b[?6l${save}\x1b[?6h` : save
    }
    if (region) text += `\x1b[${buffer.scrollTop + 1};${buffer.scrollBottom + 1}r`
    // All of these moved the cursor; and the serialiser, counting back from a line filled to its end, leaves it one column off.
    const row = originMode ? buffer.y - buffer.scrollTop : buffer.y
    text += buffer.x < cols ? cursorTo(row, buffer.x) : this.fullLine(row)
    if (coreService.isCursorHidden) text += "\x1b[?25l"
    const { cursorStyle, cursorBlink } = coreService.decPrivateModes
    const style = { block: 1, underline: 3, bar: 5 }[cursorStyle ?? ""]
    if (style) text += `\x1b[${cursorBlink ? style : style + 1} q`
    if (coreMouseService.activeEncoding === "SGR") text += "\x1b[?1006h"
    if (coreMouseService.activeEncoding === "SGR_PIXELS") text += "\x1b[?1016h"
    text += characterSets(_charsetService)
    if (this.title) text += `\x1b]0;${this.title}\x07`
    return Buffer.from(text, "utf8")
  }

  /**
   * The cursor's line once more: it is filled to its end, and the next character wraps. No movement of the cursor leads there, only a
   * character in the last column does.
   */
  private fullLine(row: number): string {
    const { cols, modes } = this.terminal
    const { active } = this.terminal.buffer
    const at = active.baseY + active.cursorY
    const line = active.getLine(at)
    const last = line?.getCell(cols - 1)
    if (!last?.getChars() && last?.getWidth() !== 0) {
      // Erased since, and the cursor stayed.
      const isBlank = line?.translateToString(true) === ""
      return `${cursorTo(row, cols - 1)} ${isBlank ? "\x1b[2K" : ""}`
    }
    const drawn = (this.serializer as unknown as RangeSerializer)._serializeBufferByRange(
      this.terminal,
      active,
      { start: at, end: at },
      true,
    )
    const redrawn = `${cursorTo(row, 0)}\x1b[0m${drawn}`
    return modes.insertMode ? `\x1b[4l${redrawn}\x1b[4h` : redrawn
  }

  dispose(): void {
    this.waiting = []
    this.terminal.dispose()
  }

  private work(): void {
    const next = this.waiting.shift()
    this.working = next !== undefined
    if (next === undefined) {
      for (const resolve of this.idle.splice(0)) resolve()
      return
    }
    if (!Buffer.isBuffer(next)) {
      this.terminal.resize(next.cols, next.rows)
      return this.work()
    }
    const bytes = this.held.length > 0 ? Buffer.concat([this.held, next]) : next
    const length = drawableLength(bytes)
    this.held = Buffer.from(bytes.subarray(length))
    this.terminal.write(bytes.subarray(0, length), () => {
      this.offset += length
      this.behind -= next.length
      this.told.drew()
      this.work()
    })
  }
}

const cursorTo = (row: number, column: number): string => `\x1b[${Math.max(row, 0) + 1};${column + 1}H`

/** Only where a program has set its own. */
function tabStops(tabs: Record<number, boolean>, cols: number): string {
  const columns = Array.from({ length: cols }, (_, column) => column)
  if (columns.every((column) => column === 0 || Boolean(tabs[column]) === (column % 8 === 0))) return ""
  return `\x1b[3g${columns.map((column) => (tabs[column] ? `\x1b[${column + 1}G\x1bH` : "")).join("")}`
}

/** After everything that was drawn: letters that follow may stand for lines. */
function characterSets({ glevel, _charsets }: Core["_charsetService"]): string {
  const lines = ["(", ")", "*", "+"].map((set, i) => (_charsets[i]?.q === "─" ? `\x1b${set}0` : ""))
  return `${lines.join("")}${["", "\x0e", "\x1bn", "\x1bo"][glevel] ?? ""}`
}

import { type FileHandle, open, readdir, readFile, rm, stat } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { gunzip, gzip } from "node:zlib"
import { replaceFile } from "../durable-file"

/** A file of this size is closed, and compressed once the terminal is quiet. */
export const SEGMENT_BYTES = 1024 * 1024
/** What a terminal keeps at least; older segments are removed. */
export const SCROLLBACK_BYTES = 10 * 1024 * 1024
const READ_BYTES = 64 * 1024

const compress = promisify(gzip)
const decompress = promisify(gunzip)

interface Segment {
  start: number
  end: number
  packed: boolean
}

/**
 * The output of one worker over its whole life, raw, by absolute offsets, in files named by the offset they begin at. What append has
 * finished is in the kernel's hands: a killed daemon loses none of it. A power cut may lose what the kernel had not yet written,
 * usually the last seconds.
 */
export class Scrollback {
  private file: FileHandle | null = null
  private packing: Promise<void> = Promise.resolve()
  private removed = false

  private constructor(
    private readonly folder: string,
    private segments: Segment[],
  ) {}

  /** The longest run of bytes that ends with the newest; drafts, what is broken and what lies before a hole go. */
  static async open(folder: string): Promise<Scrollback> {
    const found = new Map<number, Segment>()
    for (const name of await readdir(folder)) {
      const [, digits, suffix] = /^(\d{15})\.(raw|gz)$/.exec(name) ?? []
      if (name.endsWith(".gz.tmp")) await rm(join(folder, name), { force: true })
      if (!digits) continue
      const start = Number(digits)
      const packed = suffix === "gz"
      const length = await lengthOf(join(folder, name), packed)
      if (length === null) await rm(join(folder, name), { force: true })
      else if (packed || !found.get(start)?.packed) found.set(start, { start, end: start + length, packed })
    }
    const segments = [...found.values()].sort((a, b) => a.start - b.start)
    const hole = segments.findLastIndex((segment, i) => i > 0 && segments[i - 1]?.end !== segment.start)
    const dropped = hole > 0 ? segments.splice(0, hole) : []
    for (const segment of dropped) await rm(join(folder, fileName(segment)), { force: true })
    for (const segment of segments) if (segment.packed) await rm(join(folder, fileName({ ...segment, packed: false })), { force: true })
    return new Scrollback(folder, segments)
  }

  get first(): number {
    return this.segments[0]?.start ?? 0
  }

  get head(): number {
    return this.segments.at(-1)?.end ?? 0
  }

  /** Callers wait for one append before the next. */
  async append(bytes: Buffer): Promise<void> {
    if (this.removed || bytes.length === 0) return
    const segment = await this.current()
    const { file } = this
    if (!file) return
    for (let done = 0; done < bytes.length; ) {
      // At a position: after a write that failed half-way the next one puts the rest where it belongs.
      const { bytesWritten } = await file.write(bytes, done, bytes.length - done, segment.end - segment.start)
      done += bytesWritten
      segment.end += bytesWritten
    }
    while (this.segments.length > 2 && this.head - (this.segments[1] as Segment).start >= SCROLLBACK_BYTES) await this.dropOldest()
  }

  reader(): ScrollbackReader {
    return new ScrollbackReader(this)
  }

  /** What one segment holds from `offset` on; null when that is cut already. Compressed ones are given whole, to be kept by the reader. */
  async segmentAt(offset: number): Promise<{ start: number; bytes: Buffer | null; path: string } | null> {
    const segment = this.segments.find((s) => s.start <= offset && offset < s.end)
    if (!segment) return null
    const path = join(this.folder, fileName(segment))
    return { start: segment.start, path, bytes: segment.packed ? await decompress(await readFile(path)) : null }
  }

  endOf(start: number): number {
    return this.segments.find((s) => s.start === start)?.end ?? start
  }

  /**
   * Compresses closed segments in the thread pool, one after the other; called only when the terminal is quiet. A call during
   * another one runs after it: the segments closed meanwhile are not on the other's list, and would stay uncompressed.
   */
  pack(): Promise<void> {
    this.packing = this.packing.catch(() => undefined).then(() => this.packClosed())
    return this.packing
  }

  async close(): Promise<void> {
    const { file } = this
    this.file = null
    await file?.close()
    await this.packing.catch(() => undefined)
  }

  async remove(): Promise<void> {
    this.removed = true
    await this.close()
  }

  private async current(): Promise<Segment> {
    const last = this.segments.at(-1)
    const full = last !== undefined && (last.packed || last.end - last.start >= SEGMENT_BYTES)
    if (last && !full) {
      this.file ??= await open(join(this.folder, fileName(last)), "r+")
      return last
    }
    const next: Segment = { start: this.head, end: this.head, packed: false }
    const file = await open(join(this.folder, fileName(next)), "w", 0o600)
    await this.file?.close()
    this.file = file
    this.segments.push(next)
    return next
  }

  private async dropOldest(): Promise<void> {
    const [oldest] = this.segments.splice(0, 1)
    if (!oldest) return
    await rm(join(this.folder, fileName({ ...oldest, packed: false })), { force: true })
    await rm(join(this.folder, fileName({ ...oldest, packed: true })), { force: true })
  }

  private async packClosed(): Promise<void> {
    for (const segment of this.segments.slice(0, -1)) {
      if (segment.packed || this.removed) continue
      const raw = join(this.folder, fileName(segment))
      const packed = join(this.folder, fileName({ ...segment, packed: true }))
      try {
        await replaceFile(packed, await compress(await readFile(raw)))
      } catch {
        // Cut meanwhile, or no room: it stays as it is.
        await rm(`${packed}.tmp`, { force: true }).catch(() => undefined)
        continue
      }
      segment.packed = true
      await rm(this.segments.includes(segment) ? raw : packed, { force: true })
    }
  }
}

/** One reader's place. It holds at most one segment, so that going through compressed ones unpacks each once. */
export class ScrollbackReader {
  private held: { start: number; bytes: Buffer | null; path: string } | null = null
  private file: FileHandle | null = null

  constructor(private readonly scrollback: Scrollback) {}

  /** Some bytes from `offset`, up to `limit`, none at the head; null when they are cut already. */
  async read(offset: number, limit = READ_BYTES): Promise<Buffer | null> {
    if (offset === this.scrollback.head) {
      await this.close()
      return Buffer.alloc(0)
    }
    const held = await this.hold(offset).catch((error) => {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error
      // Compressed since it was looked up, or cut: the second look says which.
      return this.hold(offset)
    })
    if (!held) return null
    const from = offset - held.start
    if (held.bytes) return held.bytes.subarray(from, from + limit)
    const bytes = Buffer.allocUnsafeSlow(Math.max(Math.min(limit, this.scrollback.endOf(held.start) - offset), 0))
    const read = (await this.file?.read(bytes, 0, bytes.length, from))?.bytesRead ?? 0
    return read > 0 ? bytes.subarray(0, read) : null
  }

  async close(): Promise<void> {
    const { file } = this
    this.held = null
    this.file = null
    await file?.close()
  }

  private async hold(offset: number) {
    const { held } = this
    const end = held && (held.bytes ? held.start + held.bytes.length : this.scrollback.endOf(held.start))
    if (held && end !== null && held.start <= offset && offset < end) return held
    await this.close()
    const segment = await this.scrollback.segmentAt(offset)
    if (segment && !segment.bytes) this.file = await open(segment.path, "r")
    this.held = segment
    return segment
  }
}

/** Of a segment that is not compressed. */
export const segmentName = (start: number): string => fileName({ start, packed: false })

const fileName = ({ start, packed }: { start: number; packed: boolean }): string =>
  `${String(start).padStart(15, "0")}.${packed ? "gz" : "raw"}`

/** Null for one that cannot be read. */
async function lengthOf(path: string, packed: boolean): Promise<number | null> {
  if (!packed) return (await stat(path)).size
  return decompress(await readFile(path)).then(
    (bytes) => bytes.length,
    () => null,
  )
}

import { Failure } from "../failure"

/**
 * Reads a tar as a stranger's: anything our writer would not have written is refused before a byte of it reaches the disk.
 * Synchronous, chunk by chunk, with one header's worth of memory.
 */

const BLOCK = 512
/** Two names of the longest kind, and room. */
const MAX_PAX_BYTES = 64 * 1024

export type TarItem = { name: Buffer; type: "file" | "link" | "folder"; size: number; mode: number; target: Buffer }
export interface TarBody {
  write(bytes: Buffer): void
  end(): void
}

export class TarReader {
  private header: Buffer = Buffer.alloc(0)
  private pax: Map<string, Buffer> | null = null
  private paxBody: Buffer[] | null = null
  private body: TarBody | null = null
  private left = 0
  private padding = 0
  private emptyBlocks = 0

  constructor(private readonly open: (item: TarItem) => TarBody | null) {}

  write(chunk: Buffer): void {
    let rest = chunk
    while (rest.length > 0) {
      if (this.left > 0) rest = this.take(rest)
      else if (this.padding > 0) {
        const count = Math.min(this.padding, rest.length)
        this.padding -= count
        rest = rest.subarray(count)
      } else rest = this.collectHeader(rest)
    }
  }

  /** The archive must have said that it is over. */
  end(): void {
    if (this.emptyBlocks < 2 || this.left > 0 || this.header.length > 0) throw new Failure("ARCHIVE_BROKEN", "The archive breaks off.")
  }

  private take(bytes: Buffer): Buffer {
    const part = bytes.subarray(0, this.left)
    if (this.paxBody) this.paxBody.push(Buffer.from(part))
    else this.body?.write(part)
    this.left -= part.length
    if (this.left === 0) this.finishBody()
    return bytes.subarray(part.length)
  }

  private finishBody(): void {
    if (this.paxBody) {
      this.pax = readPax(Buffer.concat(this.paxBody))
      this.paxBody = null
    } else {
      this.body?.end()
      this.body = null
    }
  }

  private collectHeader(bytes: Buffer): Buffer {
    const missing = BLOCK - this.header.length
    const part = bytes.subarray(0, missing)
    this.header = this.header.length === 0 ? part : Buffer.concat([this.header, part])
    if (this.header.length === BLOCK) {
      const block = this.header
      this.header = Buffer.alloc(0)
      this.readHeader(block)
    } else {
      this.header = Buffer.from(this.header)
    }
    return bytes.subarray(part.length)
  }

  private readHeader(block: Buffer): void {
    if (block.every((byte) => byte === 0)) {
      this.emptyBlocks++
      return
    }
    if (this.emptyBlocks > 0) throw hostile("it goes on after its end")
    if (block.toString("latin1", 257, 262) !== "ustar" || !hasRightSum(block)) throw new Failure("ARCHIVE_BROKEN", "The archive is no tar.")
    const type = block.toString("latin1", 156, 157)
    const pax = this.pax
    const size = pax?.has("size") ? decimal(pax.get("size") as Buffer) : octal(block, 124, 12)
    this.padding = (BLOCK - (size % BLOCK)) % BLOCK
    this.left = size
    if (type === "x") {
      if (pax || size === 0 || size > MAX_PAX_BYTES) throw hostile("it has a header that is too long")
      this.paxBody = []
      return
    }
    this.pax = null
    const mode = octal(block, 100, 8)
    if ((mode & ~0o777) !== 0) throw hostile("it holds a file with special mode bits")
    const name = pax?.get("path") ?? text(block, 0, 100)
    const target = pax?.get("linkpath") ?? text(block, 157, 100)
    const kind = KINDS[type === "\0" ? "0" : type]
    if (!kind) throw hostile(`it holds ${STRANGERS[type] ?? "something"} that is neither file nor link`)
    if (kind !== "file" && size !== 0) throw hostile("a link in it has content")
    this.body = this.open({ name: Buffer.from(name), type: kind, size, mode, target: Buffer.from(target) })
    if (size === 0) {
      this.body?.end()
      this.body = null
    }
  }
}

const KINDS: Record<string, TarItem["type"]> = { "0": "file", "2": "link", "5": "folder" }
const STRANGERS: Record<string, string> = { "1": "a hard link", "3": "a device", "4": "a device", "6": "a fifo" }

export const hostile = (why: string) => new Failure("ARCHIVE_HOSTILE", `The archive was refused: ${why}.`)

function hasRightSum(block: Buffer): boolean {
  let sum = 8 * 0x20
  for (let i = 0; i < BLOCK; i++) if (i < 148 || i >= 156) sum += block[i] as number
  return octal(block, 148, 8) === sum
}

function octal(block: Buffer, at: number, width: number): number {
  const digits = block
    .toString("latin1", at, at + width)
    .replace(/[\0 ]+$/, "")
    .trimStart()
  if (!/^[0-7]{0,12}$/.test(digits)) throw hostile("a number in it is none")
  return digits === "" ? 0 : Number.parseInt(digits, 8)
}

function decimal(bytes: Buffer): number {
  const digits = bytes.toString("latin1")
  if (!/^\d{1,15}$/.test(digits)) throw hostile("a number in it is none")
  return Number(digits)
}

function text(block: Buffer, at: number, width: number): Buffer {
  const field = block.subarray(at, at + width)
  const end = field.indexOf(0)
  return end === -1 ? field : field.subarray(0, end)
}

function readPax(body: Buffer): Map<string, Buffer> {
  const records = new Map<string, Buffer>()
  for (let at = 0; at < body.length; ) {
    const space = body.indexOf(0x20, at)
    const length = Number(body.toString("latin1", at, space))
    const equals = body.indexOf(0x3d, space)
    const end = at + length
    const sound = space > at && equals > space && Number.isInteger(length) && end <= body.length && equals < end && body[end - 1] === 0x0a
    if (!sound) throw hostile("a header in it is broken")
    const key = body.toString("latin1", space + 1, equals)
    if (records.has(key)) throw hostile("a header in it says two things")
    records.set(key, body.subarray(equals + 1, end - 1))
    at = end
  }
  return records
}

/** Just enough of the ustar format for a handful of named files; sizes are known before, so nothing is held in memory. */
const BLOCK = 512

export function tarHeader(name: string, size: number, modified: Date): Buffer {
  const header = Buffer.alloc(BLOCK)
  const octal = (value: number, width: number) => `${value.toString(8).padStart(width - 1, "0")}\0`
  header.write(name, 0, 100, "utf8")
  header.write(octal(0o600, 8), 100)
  header.write(octal(0, 8), 108)
  header.write(octal(0, 8), 116)
  header.write(octal(size, 12), 124)
  header.write(octal(Math.floor(modified.getTime() / 1000), 12), 136)
  header.write("        ", 148)
  header.write("0", 156)
  header.write("ustar\0", 257)
  header.write("00", 263)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148)
  return header
}

export const tarPadding = (size: number): Buffer => Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK)
export const TAR_END = Buffer.alloc(2 * BLOCK)

export type TarEntry = { name: string; content: AsyncIterable<Buffer> }
export class NotATar extends Error {}

/** Entries in order; each one's content is read before the next is asked for. A stream that ends early ends the last entry early. */
export async function* readTar(source: AsyncIterable<Uint8Array>): AsyncGenerator<TarEntry> {
  const chunks = source[Symbol.asyncIterator]()
  let held: Buffer = Buffer.alloc(0)
  /** At most `most` bytes, at least one unless the source is at its end. */
  async function take(most: number): Promise<Buffer> {
    while (held.length === 0) {
      const next = await chunks.next()
      if (next.done) return held
      held = Buffer.from(next.value)
    }
    const taken = held.subarray(0, most)
    held = held.subarray(taken.length)
    return taken
  }
  async function exactly(size: number): Promise<Buffer> {
    const parts: Buffer[] = []
    for (let left = size; left > 0; ) {
      const part = await take(left)
      if (part.length === 0) break
      parts.push(part)
      left -= part.length
    }
    return Buffer.concat(parts)
  }

  for (let first = true; ; first = false) {
    const header = await exactly(BLOCK)
    if (header.length < BLOCK || header.every((byte) => byte === 0)) {
      if (first) throw new NotATar("The body is not a tar file.")
      return
    }
    if (!isHeader(header)) {
      if (first) throw new NotATar("The body is not a tar file.")
      return
    }
    let left = Number.parseInt(header.toString("latin1", 124, 136), 8)
    const padding = tarPadding(left).length
    const content = (async function* () {
      while (left > 0) {
        const part = await take(left)
        if (part.length === 0) return
        left -= part.length
        yield part
      }
    })()
    const type = header[156]
    const isFile = type === 0 || type === "0".charCodeAt(0)
    const name = header.toString("utf8", 0, 100).replace(/\0.*$/s, "")
    if (isFile) yield { name, content }
    for await (const _rest of content);
    await exactly(padding)
  }
}

function isHeader(header: Buffer): boolean {
  const claimed = Number.parseInt(header.toString("latin1", 148, 156), 8)
  const sum = header.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 0x20 : byte), 0)
  return claimed === sum && /^[0-7]+[\0 ]/.test(header.toString("latin1", 124, 136))
}

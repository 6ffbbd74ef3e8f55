import { closeSync, openSync, readSync, writeSync } from "node:fs"

/** Lists of names kept in a file, each ended by NUL: a workspace may hold more names than memory should. */

const CHUNK = 64 * 1024

/** Each name in turn. Valid until the next one is asked for. */
export function* readNames(path: string, separator = 0): Generator<Buffer> {
  const fd = openSync(path, "r")
  try {
    let rest: Buffer = Buffer.alloc(0)
    for (;;) {
      const chunk = Buffer.allocUnsafe(CHUNK)
      const count = readSync(fd, chunk, 0, CHUNK, null)
      if (count === 0) break
      let data: Buffer = chunk.subarray(0, count)
      if (rest.length > 0) data = Buffer.concat([rest, data])
      let from = 0
      for (let to = data.indexOf(separator); to !== -1; to = data.indexOf(separator, from)) {
        yield data.subarray(from, to)
        from = to + 1
      }
      rest = data.subarray(from)
    }
    if (rest.length > 0) yield rest
  } finally {
    closeSync(fd)
  }
}

/** Appends lines or names through a buffer of its own. */
export class NameWriter {
  private readonly fd: number
  private readonly buffer = Buffer.allocUnsafe(CHUNK)
  private used = 0
  bytes = 0

  constructor(path: string) {
    this.fd = openSync(path, "wx", 0o600)
  }

  add(name: Buffer, separator = 0): void {
    if (this.used + name.length + 1 > CHUNK) this.flush()
    this.bytes += name.length + 1
    if (name.length + 1 > CHUNK) {
      writeSync(this.fd, Buffer.concat([name, Buffer.from([separator])]))
      return
    }
    name.copy(this.buffer, this.used)
    this.used += name.length
    this.buffer[this.used++] = separator
  }

  close(): void {
    this.flush()
    closeSync(this.fd)
  }

  private flush(): void {
    for (let at = 0; at < this.used; ) at += writeSync(this.fd, this.buffer, at, this.used - at)
    this.used = 0
  }
}

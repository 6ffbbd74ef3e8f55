import { type ChildProcess, spawn } from "node:child_process"
import { createHash } from "node:crypto"
import { createReadStream, createWriteStream, fstatSync, readSync } from "node:fs"
import type { Readable, Writable } from "node:stream"
import { pipeline } from "node:stream/promises"
import zlib from "node:zlib"
import { Failure, messageOf } from "../failure"

/** zstd where the tool exists: several times as fast as gzip in process, and smaller. A child, so that it has a core of its own. */

const ZSTD_LEVEL = "-3"
const READ_BYTES = 1024 * 1024
const ZSTD_MAGIC = Buffer.from([0x28, 0xb5, 0x2f, 0xfd])
const GZIP_MAGIC = Buffer.from([0x1f, 0x8b])

export type Compression = "zstd" | "gzip"

export const suffixOf = (compression: Compression): string => (compression === "zstd" ? ".tar.zst" : ".tar.gz")

export function findCompression(): Promise<Compression> {
  return new Promise((resolve) => {
    const child = spawn("zstd", ["--version"], { stdio: "ignore" })
    child.on("error", () => resolve("gzip"))
    child.on("close", (code) => resolve(code === 0 ? "zstd" : "gzip"))
  })
}

export interface Compressor {
  input: Writable
  /** After the input's end; rejects with what went wrong, DISK_FULL among it. */
  finished: Promise<void>
}

/** Writes what comes in, compressed, to an open file. */
export function openCompressor(kind: Compression, fd: number): Compressor {
  if (kind === "gzip") {
    const gzip = zlib.createGzip({ level: 6 })
    return { input: gzip, finished: pipeline(gzip, createWriteStream("", { fd, autoClose: false })) }
  }
  const child = spawn("zstd", [ZSTD_LEVEL, "-q", "-c"], { stdio: ["pipe", fd, "pipe"] })
  return { input: child.stdin as Writable, finished: ended(child, "zstd") }
}

/** The decompressed bytes of an open file from `start` on; what it is compressed with is read from the first of them. */
export function openDecompressor(fd: number, start = 0): { output: Readable; finished: Promise<void> } {
  const magic = Buffer.alloc(4)
  readSync(fd, magic, 0, 4, start)
  if (magic.subarray(0, 2).equals(GZIP_MAGIC)) return inProcess(readFrom(fd, start), zlib.createGunzip())
  if (!magic.equals(ZSTD_MAGIC)) throw new Failure("ARCHIVE_BROKEN", "The archive is neither zstd nor gzip.")
  // From its start it reads the file by itself, which is faster.
  const child = spawn("zstd", ["-d", "-q", "-c", "--memory=128MB"], { stdio: [start === 0 ? fd : "pipe", "pipe", "pipe"] })
  if (child.stdin) {
    // It ends early when its reader does; why is in its exit.
    child.stdin.on("error", () => undefined)
    readFrom(fd, start).pipe(child.stdin)
  }
  return { output: child.stdout as Readable, finished: ended(child, "zstd") }
}

const readFrom = (fd: number, start: number): Readable => createReadStream("", { fd, start, autoClose: false, highWaterMark: READ_BYTES })

function inProcess(source: Readable, transform: Writable & Readable): { output: Readable; finished: Promise<void> } {
  source.on("error", (error) => transform.destroy(error))
  source.pipe(transform)
  const finished = new Promise<void>((resolve, reject) => {
    transform.on("error", (error) => reject(new Failure("ARCHIVE_BROKEN", `The archive cannot be decompressed: ${messageOf(error)}`)))
    transform.on("close", resolve)
  })
  finished.catch(() => undefined)
  return { output: transform, finished }
}

function ended(child: ChildProcess, name: string): Promise<void> {
  let words = ""
  child.stderr?.on("data", (bytes) => {
    words = (words + bytes).slice(-2000)
  })
  const finished = new Promise<void>((resolve, reject) => {
    child.on("error", (error: NodeJS.ErrnoException) =>
      reject(new Failure("ARCHIVE_UNSUPPORTED", error.code === "ENOENT" ? `${name} is not installed on this host.` : messageOf(error))),
    )
    child.on("close", (code) => (code === 0 ? resolve() : reject(toolFailure(name, words, code))))
  })
  finished.catch(() => undefined)
  return finished
}

/**
 * The last bytes of an archive say where its manifest begins, which is compressed by itself: a reader that wants a list reads no
 * content. Every decompressor skips them: they are a frame for others to zstd, and a member without content to gzip.
 */
const ZSTD_TRAILER = Buffer.from([0x50, 0x2a, 0x4d, 0x18, 8, 0, 0, 0])
const GZIP_TRAILER = Buffer.from([0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 0xff, 12, 0, 0x52, 0x57, 8, 0])
const GZIP_TRAILER_END = Buffer.from([3, 0, 0, 0, 0, 0, 0, 0, 0, 0])

export function trailer(kind: Compression, manifestAt: number): Buffer {
  const offset = Buffer.alloc(8)
  offset.writeBigUInt64LE(BigInt(manifestAt))
  return kind === "zstd" ? Buffer.concat([ZSTD_TRAILER, offset]) : Buffer.concat([GZIP_TRAILER, offset, GZIP_TRAILER_END])
}

/** Null for an archive of format 1, which has none, and for one that was cut short. */
export function readTrailer(fd: number): number | null {
  const { size } = fstatSync(fd)
  for (const kind of ["zstd", "gzip"] as const) {
    const { length } = trailer(kind, 0)
    const last = Buffer.alloc(length)
    if (size < length) continue
    readSync(fd, last, 0, length, size - length)
    const at = Number(last.readBigUInt64LE(kind === "zstd" ? ZSTD_TRAILER.length : GZIP_TRAILER.length))
    if (at < size - length && last.equals(trailer(kind, at))) return at
  }
  return null
}

function toolFailure(name: string, words: string, code: number | null): Failure {
  if (/No space left|Disk quota/i.test(words)) return new Failure("DISK_FULL", "There is no room on the disk for the archive.")
  return new Failure("ARCHIVE_BROKEN", `${name} ended with code ${code}: ${words.trim().split("\n").at(-1) ?? ""}`)
}

/** The sha256 and size of an open file, read once from its start. */
export function hashFile(fd: number, tell: (bytes: number) => void = () => undefined): { sha256: string; bytes: number } {
  const hash = createHash("sha256")
  const buffer = Buffer.allocUnsafe(READ_BYTES)
  let bytes = 0
  for (;;) {
    const count = readSync(fd, buffer, 0, buffer.length, bytes)
    if (count === 0) return { sha256: hash.digest("hex"), bytes }
    hash.update(count === buffer.length ? buffer : buffer.subarray(0, count))
    bytes += count
    tell(bytes)
  }
}

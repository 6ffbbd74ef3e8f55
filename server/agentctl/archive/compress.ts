import { type ChildProcess, spawn } from "node:child_process"
import { createHash } from "node:crypto"
import { createReadStream, createWriteStream, readSync } from "node:fs"
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

/** The decompressed bytes of an open file; what it is compressed with is read from its first bytes. */
export function openDecompressor(fd: number): { output: Readable; finished: Promise<void> } {
  const magic = Buffer.alloc(4)
  readSync(fd, magic, 0, 4, 0)
  if (magic.subarray(0, 2).equals(GZIP_MAGIC)) return inProcess(fd, zlib.createGunzip())
  if (!magic.equals(ZSTD_MAGIC)) throw new Failure("ARCHIVE_BROKEN", "The archive is neither zstd nor gzip.")
  const child = spawn("zstd", ["-d", "-q", "-c", "--memory=128MB"], { stdio: [fd, "pipe", "pipe"] })
  return { output: child.stdout as Readable, finished: ended(child, "zstd") }
}

function inProcess(fd: number, transform: Writable & Readable): { output: Readable; finished: Promise<void> } {
  const source = createReadStream("", { fd, start: 0, autoClose: false, highWaterMark: READ_BYTES })
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

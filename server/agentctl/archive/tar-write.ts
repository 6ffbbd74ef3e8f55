import { isUtf8 } from "node:buffer"
import type { BlockSink } from "./block-sink"

/**
 * Entries of a POSIX (pax) tar, names as bytes. Our own, because it has to be synchronous between two waits and must not turn a
 * name into text: the libraries do both, and cost more than compressing does.
 */

const BLOCK = 512
const NAME_BYTES = 100
const LARGEST_OCTAL_SIZE = 8 * 1024 ** 3

export type TarEntry = {
  name: Buffer
  type: "file" | "link" | "folder"
  size: number
  mode: number
  mtimeSeconds: number
  target?: Buffer
}

export function writeHeader(sink: BlockSink, entry: TarEntry): void {
  const pax: Buffer[] = []
  if (entry.name.length > NAME_BYTES) pax.push(paxRecord("path", entry.name))
  if (entry.target && entry.target.length > NAME_BYTES) pax.push(paxRecord("linkpath", entry.target))
  if (entry.size >= LARGEST_OCTAL_SIZE) pax.push(paxRecord("size", Buffer.from(String(entry.size))))
  if (pax.length > 0) {
    const names = [entry.name, entry.target ?? Buffer.alloc(0)]
    const body = Buffer.concat(names.every((name) => isUtf8(name)) ? pax : [paxRecord("hdrcharset", Buffer.from("BINARY")), ...pax])
    sink.write(header({ name: Buffer.from("pax"), type: "file", size: body.length, mode: 0o600, mtimeSeconds: 0 }, "x"))
    sink.write(body)
    writePadding(sink, body.length)
  }
  sink.write(header(entry, entry.type === "file" ? "0" : entry.type === "link" ? "2" : "5"))
}

export function writePadding(sink: BlockSink, size: number): void {
  const rest = size % BLOCK
  if (rest > 0) sink.write(ZEROS.subarray(0, BLOCK - rest))
}

export const writeEnd = (sink: BlockSink): void => sink.write(ZEROS)

const ZEROS = Buffer.alloc(2 * BLOCK)

function header(entry: TarEntry, type: string): Buffer {
  const block = Buffer.alloc(BLOCK)
  entry.name.copy(block, 0, 0, NAME_BYTES)
  octal(block, entry.mode & 0o777, 100, 8)
  octal(block, 0, 108, 8)
  octal(block, 0, 116, 8)
  octal(block, entry.size >= LARGEST_OCTAL_SIZE ? 0 : entry.size, 124, 12)
  octal(block, Math.max(0, entry.mtimeSeconds), 136, 12)
  block.fill(" ", 148, 156)
  block.write(type, 156, "latin1")
  entry.target?.copy(block, 157, 0, NAME_BYTES)
  block.write("ustar\u000000", 257, "latin1")
  let sum = 0
  for (let i = 0; i < BLOCK; i++) sum += block[i] as number
  block.write(`${sum.toString(8).padStart(6, "0")}\u0000 `, 148, "latin1")
  return block
}

function octal(block: Buffer, value: number, at: number, width: number): void {
  block.write(
    `${Math.floor(value)
      .toString(8)
      .padStart(width - 1, "0")}\u0000`,
    at,
    "latin1",
  )
}

/** "LENGTH key=value\n", where LENGTH counts itself. */
function paxRecord(key: string, value: Buffer): Buffer {
  const rest = key.length + value.length + 3
  let length = rest + String(rest).length
  if (String(length).length !== String(rest).length) length = rest + String(length).length
  return Buffer.concat([Buffer.from(`${length} ${key}=`), value, Buffer.from("\n")])
}

import { existsSync } from "node:fs"
import { type FileHandle, mkdir, open, readdir, rename, rm } from "node:fs/promises"
import { join } from "node:path"
import { z } from "zod"
import { PutPty } from "../../../lib/contracts/agentctl/ptys"
import { WORKER_ID } from "../../../lib/contracts/ids"
import { syncFolder } from "../durable-file"
import { Failure } from "../failure"
import { PtyRecord } from "./pty-record"
import type { ScrollbackReader } from "./scrollback"
import { SCROLLBACK_BYTES, SEGMENT_BYTES, segmentName } from "./scrollback"

/**
 * What a terminal showed, as one file of an archive: a line of JSON, then the raw output that is kept. A restore puts it where the
 * terminal's next process finds it above its divider. No process comes back, so that epochs begin anew.
 */

const MAX_HEAD_BYTES = 64 * 1024
const COPY_BYTES = 256 * 1024
/** Of the newest output: what a terminal keeps, and its oldest file, of which a part is beyond that. */
const OUTPUT_BYTES = SCROLLBACK_BYTES + 2 * SEGMENT_BYTES
export const ARCHIVED_OUTPUT_MAX_BYTES = OUTPUT_BYTES + MAX_HEAD_BYTES
/** Of size changes that are kept for drawing the screen again. */
export const MAX_SIZES = 200

const { cols, rows, type } = PutPty.shape
const Offset = z
  .number()
  .int()
  .min(0)
  .max(10 ** 14)
const ArchivedOutput = z.strictObject({
  type,
  ...{ cols, rows },
  title: z.string().max(1000).nullable(),
  /** The offset of the first byte. */
  first: Offset,
  sizes: z.array(z.strictObject({ offset: Offset, cols, rows })).max(MAX_SIZES),
})
export type ArchivedOutput = z.infer<typeof ArchivedOutput>

export async function writeArchivedOutput(path: string, of: ArchivedOutput, end: number, reader: ScrollbackReader): Promise<void> {
  const head = { ...of, first: Math.max(of.first, end - OUTPUT_BYTES) }
  const file = await open(path, "wx", 0o600)
  try {
    await file.writeFile(`${JSON.stringify(ArchivedOutput.parse(head))}\n`)
    for (let at = head.first; at < end; ) {
      const bytes = await reader.read(at, Math.min(COPY_BYTES, end - at))
      if (!bytes || bytes.length === 0) throw new Error("The output was cut while it was read.")
      await file.writeFile(bytes)
      at += bytes.length
    }
  } finally {
    await reader.close()
    await file.close()
  }
}

/** From a folder with a file for each worker. What is there already is newer, and stays. */
export async function placeArchivedOutput(unpacked: string, ptys: string): Promise<void> {
  const workers = (await readdir(unpacked).catch(() => [])).filter((name) => WORKER_ID.test(name))
  if (workers.length === 0) return
  await mkdir(ptys, { recursive: true, mode: 0o700 })
  for (const worker of workers) {
    const folder = join(ptys, worker)
    if (existsSync(folder)) continue
    const draft = `${folder}.restoring`
    await rm(draft, { recursive: true, force: true })
    await mkdir(draft, { mode: 0o700 })
    const file = await open(join(unpacked, worker), "r")
    try {
      await placeOne(file, worker, draft)
    } finally {
      await file.close()
    }
    await rename(draft, folder)
  }
  await syncFolder(ptys)
}

async function placeOne(file: FileHandle, worker: string, draft: string): Promise<void> {
  const { head, length } = await readHead(file)
  const record = PtyRecord.blank(draft, worker, head.type)
  const buffer = Buffer.allocUnsafe(SEGMENT_BYTES)
  let offset = head.first
  for (let at = length; ; ) {
    const { bytesRead } = await file.read(buffer, 0, SEGMENT_BYTES, at)
    if (bytesRead === 0) break
    const segment = await open(join(draft, segmentName(offset)), "wx", 0o600)
    await segment.writeFile(buffer.subarray(0, bytesRead))
    await segment.sync()
    await segment.close()
    at += bytesRead
    offset += bytesRead
  }
  const { cols, rows, title, sizes } = head
  await record.change({ cols, rows, title, sizes, epoch_offset: offset })
}

async function readHead(file: FileHandle): Promise<{ head: ArchivedOutput; length: number }> {
  const buffer = Buffer.alloc(MAX_HEAD_BYTES)
  const { bytesRead } = await file.read(buffer, 0, MAX_HEAD_BYTES, 0)
  const end = buffer.subarray(0, bytesRead).indexOf(0x0a)
  try {
    if (end === -1) throw new Error("The first line is too long.")
    return { head: ArchivedOutput.parse(JSON.parse(buffer.toString("utf8", 0, end))), length: end + 1 }
  } catch {
    throw new Failure("ARCHIVE_BROKEN", "The archive's output of a terminal cannot be read.")
  }
}

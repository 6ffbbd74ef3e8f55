import { randomUUID } from "node:crypto"
import { writeSync } from "node:fs"
import { type FileHandle, link, open, rename } from "node:fs/promises"
import { dirname } from "node:path"
import { SpoolHeader } from "../../lib/contracts/agentctl/protocol"
import { setAside, syncFolder } from "./durable-file"
import type { SpooledPrompts } from "./prompt-ledger"
import { SpoolIndex } from "./spool-index"
import { type Damage, type LastAgent, ON_DISK, planRepair, readLine, type ScannedLine, sha256 } from "./spool-scan"

const CHUNK = 1024 * 1024

export interface SpoolFile {
  handle: FileHandle
  header: SpoolHeaderFields
  headerBytes: number
  size: number
  head: number
  index: SpoolIndex
  /** What was found of agents when it was opened: the last that came up or ended; null when none is left in it. */
  lastAgent: LastAgent | null
  prompts: SpooledPrompts
  /** What was found wrong and done about it; for the log. */
  repairs: string[]
  /** Why it begins anew, when an earlier file could not be used; said to whoever reads it. */
  lost: string | null
}
type SpoolHeaderFields = { spool_id: string; session_id: string; created_at: string; first: number }

const UNREADABLE = `the spool could not be read and was set aside; what the server had not read of it was lost ${ON_DISK}`

/**
 * Opens a session's spool and leaves it whole: a torn tail is taken back, an unreadable line in the middle becomes a
 * `record.rejected` in its place, an unreadable header moves the file aside and begins a new spool.
 */
export async function openSpoolFile(path: string, sessionId: string): Promise<SpoolFile> {
  const repairs: string[] = []
  let lost: string | null = null
  for (let attempt = 0; ; attempt++) {
    const handle = await openFile(path)
    if (handle === "a folder") {
      await setAside(path)
      lost = UNREADABLE
      repairs.push("a folder in its place: moved aside")
      continue
    }
    if (!handle) return { ...(await createSpoolFile(path, sessionId)), repairs, lost }
    let scan: Awaited<ReturnType<typeof scanFile>>
    try {
      scan = await scanFile(handle)
    } catch (error) {
      await handle.close()
      throw error
    }
    if (!scan.header || scan.header.session_id !== sessionId) {
      await handle.close()
      await setAside(path)
      lost = UNREADABLE
      repairs.push("unreadable header: moved aside")
      continue
    }
    const { header, headerBytes, lines, size } = scan
    const plan = planRepair(lines, header.first, headerBytes)
    if (plan.damages.length > 0 && attempt < 3) {
      await rewriteWithoutDamage(path, handle, headerBytes, plan.goodEnd, plan.damages)
      await handle.close()
      repairs.push(`${plan.damages.length} damaged places replaced`)
      continue
    }
    if (plan.goodEnd < size) {
      await handle.truncate(plan.goodEnd)
      await handle.datasync()
      repairs.push(`torn tail of ${size - plan.goodEnd} bytes taken back`)
    }
    const lastAgent = lines.findLast((line) => line.agent !== null && line.end <= plan.goodEnd)?.agent ?? null
    const index = indexOf(lines, header.first, plan.goodEnd)
    const accepted = lines.flatMap((line) => (line.accepted !== null && line.end <= plan.goodEnd ? [line.accepted] : []))
    // A torn tail was never synced: no agent was given a prompt that only it told of.
    const of = header.first === 1 && lines.every((line) => !line.lost) ? "all" : "some"
    const prompts = { accepted, of } as const
    return { handle, header, headerBytes, size: plan.goodEnd, head: plan.head, index, lastAgent, prompts, repairs, lost: null }
  }
}

export async function createSpoolFile(path: string, sessionId: string): Promise<SpoolFile> {
  const header = { spool_id: `spool_${randomUUID()}`, session_id: sessionId, created_at: new Date().toISOString(), first: 1 }
  const { handle, headerBytes } = await writeNewFile(path, header, async () => undefined)
  await syncFolder(dirname(path))
  return {
    ...{ handle, header, headerBytes, size: headerBytes, head: 0, index: new SpoolIndex() },
    ...{ lastAgent: null, prompts: { accepted: [], of: "none" }, repairs: [], lost: null },
  }
}

/** Replaces the file by one that begins at `from`; a crash leaves the old file or the new one. */
export async function cutSpoolFile(
  path: string,
  old: FileHandle,
  header: SpoolHeaderFields,
  from: number,
  to: number,
): Promise<{ handle: FileHandle; headerBytes: number }> {
  const cut = await writeNewFile(path, header, (draft, at) => copyRange(old, draft, from, to, at).then(() => undefined))
  // The name is the new file's now: going on with the old one would write into a file nobody finds.
  await syncFolder(dirname(path)).catch(() => undefined)
  return cut
}

async function writeNewFile(path: string, header: SpoolHeaderFields, fill: (draft: FileHandle, at: number) => Promise<void>) {
  const bytes = Buffer.from(`${JSON.stringify(header)}\n`)
  const draft = await open(`${path}.tmp`, "w+", 0o600)
  try {
    await writeAll(draft, bytes, 0)
    await fill(draft, bytes.length)
    await draft.sync()
    await rename(`${path}.tmp`, path)
  } catch (error) {
    await draft.close()
    throw error
  }
  return { handle: draft, headerBytes: bytes.length }
}

async function rewriteWithoutDamage(path: string, old: FileHandle, start: number, end: number, damages: Damage[]): Promise<void> {
  const draft = await open(`${path}.tmp`, "w", 0o600)
  try {
    let at = await copyRange(old, draft, 0, start, 0)
    let from = start
    for (const damage of damages) {
      at = await copyRange(old, draft, from, damage.start, at)
      const lost = Buffer.alloc(damage.end - damage.start)
      await old.read(lost, 0, lost.length, damage.start)
      const digest = sha256(lost)
      for (let n = damage.from; n <= damage.to; n++) {
        const line = { n, ts: new Date().toISOString(), kind: "record.rejected", sha256: digest, reason: `unreadable ${ON_DISK}` }
        at += await writeAll(draft, Buffer.from(`${JSON.stringify(line)}\n`), at)
      }
      from = damage.end
    }
    await copyRange(old, draft, from, end, at)
    await draft.sync()
  } finally {
    await draft.close()
  }
  // The damaged original is evidence; the next one of the same millisecond would only be a repetition.
  await link(path, `${path}.damaged-${Date.now()}`).catch(() => undefined)
  await rename(`${path}.tmp`, path)
  await syncFolder(dirname(path))
}

async function scanFile(handle: FileHandle) {
  const lines: ScannedLine[] = []
  let header: SpoolHeaderFields | null = null
  let headerBytes = 0
  let carried: Buffer[] = []
  let lineStart = 0
  let size = 0
  const endLine = (bytes: Buffer, end: number) => {
    if (headerBytes === 0) {
      headerBytes = end
      header = parseHeader(bytes)
    } else lines.push({ ...readLine(bytes), start: lineStart, end })
    lineStart = end
  }
  for (;;) {
    const chunk = Buffer.allocUnsafe(CHUNK)
    const { bytesRead } = await handle.read(chunk, 0, CHUNK, size)
    if (bytesRead === 0) break
    let from = 0
    for (let at = chunk.indexOf(10, from); at >= 0 && at < bytesRead; at = chunk.indexOf(10, from)) {
      carried.push(chunk.subarray(from, at))
      endLine(carried.length === 1 ? (carried[0] as Buffer) : Buffer.concat(carried), size + at + 1)
      carried = []
      from = at + 1
    }
    if (from < bytesRead) carried.push(chunk.subarray(from, bytesRead))
    size += bytesRead
  }
  return { header: header as SpoolHeaderFields | null, headerBytes, lines, size }
}

function parseHeader(bytes: Buffer): SpoolHeaderFields | null {
  try {
    return SpoolHeader.parse(JSON.parse(bytes.toString("utf8")))
  } catch {
    return null
  }
}

function indexOf(lines: ScannedLine[], first: number, end: number): SpoolIndex {
  const index = new SpoolIndex()
  let expected = first
  for (const line of lines) {
    if (line.n === null || line.end > end) continue
    index.add(line.n, line.start, line.n !== expected)
    expected = line.n + 1
  }
  return index
}

/** Whatever else stands in the way may be gone at the next call: the records are still there, and no new spool is begun beside them. */
async function openFile(path: string): Promise<FileHandle | "a folder" | null> {
  try {
    return await open(path, "r+")
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === "ENOENT") return null
    if (code === "EISDIR") return "a folder"
    throw error
  }
}

/** A few pages go into the kernel's cache faster than into the thread pool's queue. */
const WRITE_AT_ONCE = 64 * 1024

export async function writeAll(handle: FileHandle, bytes: Buffer, at: number): Promise<number> {
  if (bytes.length <= WRITE_AT_ONCE) {
    for (let done = 0; done < bytes.length; ) done += writeSync(handle.fd, bytes, done, bytes.length - done, at + done)
    return bytes.length
  }
  for (let done = 0; done < bytes.length; ) done += (await handle.write(bytes, done, bytes.length - done, at + done)).bytesWritten
  return bytes.length
}

async function copyRange(from: FileHandle, to: FileHandle, start: number, end: number, at: number): Promise<number> {
  const buffer = Buffer.allocUnsafe(Math.min(CHUNK, Math.max(end - start, 1)))
  for (let position = start; position < end; ) {
    const { bytesRead } = await from.read(buffer, 0, Math.min(buffer.length, end - position), position)
    if (bytesRead === 0) throw new Error("the spool is shorter than its index")
    at += await writeAll(to, buffer.subarray(0, bytesRead), at)
    position += bytesRead
  }
  return at
}

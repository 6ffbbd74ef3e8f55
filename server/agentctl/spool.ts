import type { NewSpoolRecord } from "../../lib/contracts/agentctl/protocol"
import { killPoint } from "../../lib/host/kill-point"
import { Failure } from "./failure"
import type { Log } from "./log"
import type { SpooledPrompts } from "./prompt-ledger"
import type { RejectedFiles } from "./rejected-files"
import { cutSpoolFile, openSpoolFile, type SpoolFile, writeAll } from "./spool-file"
import { ON_DISK } from "./spool-scan"

export interface SpoolLimits {
  /** Above this many unacknowledged bytes the agent's output is no longer read: it waits, nothing is dropped. */
  unackedBytes: number
  /** Acknowledged bytes are cut off when there are this many; smaller means more rewriting. */
  cutBytes: number
  /** A record longer than this becomes `record.rejected`; the server could not store it. */
  recordBytes: number
}
export const SPOOL_LIMITS: SpoolLimits = { unackedBytes: 64 * 1024 * 1024, cutBytes: 2 * 1024 * 1024, recordBytes: 8 * 1024 * 1024 }

/** A disk slower than the agent must not fill memory instead. */
const MAX_UNWRITTEN_BYTES = 8 * 1024 * 1024
const RETRY_WRITE_MS = 1000
const RETRY_CUT_MS = 10_000
const READ_BYTES = 256 * 1024
const MAX_LOST_RECORDS = 1_000_000

type Line = { n: number; bytes: Buffer }

/** What the daemon saw of one session, in order, on disk. A record is visible to readers only after its fdatasync. */
export class Spool {
  private pending: Line[] = []
  private pendingBytes = 0
  private writing: Promise<void> | null = null
  private stuck = false
  private closed = false
  private assigned: number
  private acked: number
  /** Where the first record that must be kept begins, and its number. */
  private ackedOffset: number
  private keepFrom: number
  private noCutBefore = 0
  /** logical offset = physical offset + base; a cut changes only the base. */
  private base = 0
  private firstOffset: number
  /** What was synced last, for readers that keep up: going to the file for it would cost them another turn of the disk. */
  private tail: { offset: number; bytes: Buffer } | null = null
  private readonly listeners = new Set<() => void>()

  private constructor(
    private readonly path: string,
    private readonly file: SpoolFile,
    private readonly limits: SpoolLimits,
    private readonly rejected: RejectedFiles,
    private readonly log: Log,
  ) {
    this.assigned = file.head
    this.acked = file.header.first - 1
    this.firstOffset = file.headerBytes
    this.ackedOffset = this.firstOffset
    this.keepFrom = file.header.first
  }

  static async open(path: string, sessionId: string, limits: SpoolLimits, rejected: RejectedFiles, log: Log): Promise<Spool> {
    const file = await openSpoolFile(path, sessionId)
    for (const repair of file.repairs) log.warn("spool.repaired", { session_id: sessionId, repair })
    const spool = new Spool(path, file, limits, rejected, log)
    if (file.lost !== null) spool.append({ kind: "record.rejected", sha256: "", reason: file.lost })
    return spool
  }

  get id(): string {
    return this.file.header.spool_id
  }
  /** The newest record on disk. */
  get head(): number {
    return this.file.head
  }
  get first(): number {
    return this.file.header.first
  }

  /** Is this agent's coming up the last that was said of any, when the file was opened? Null when nothing is left that would tell. */
  leftUp(executionId: string): boolean | null {
    const { lastAgent } = this.file
    return lastAgent && lastAgent.agent_execution_id === executionId && !lastAgent.ended
  }

  /** The agent whose coming up is the last that was said of any, when the file was opened. */
  get lastUp(): string | null {
    const { lastAgent } = this.file
    return lastAgent && !lastAgent.ended ? lastAgent.agent_execution_id : null
  }

  /** What it told of prompts when the file was opened. */
  get prompts(): SpooledPrompts {
    return this.file.prompts
  }

  append(record: NewSpoolRecord): number {
    if (this.closed) throw new Failure("NOT_FOUND", "The session is gone.")
    const n = ++this.assigned
    let bytes = serialise(n, record)
    if (bytes.length > this.limits.recordBytes) {
      const { sha256, kept } = this.rejected.keep(bytes)
      bytes = serialise(n, { kind: "record.rejected", sha256, reason: `${record.kind} of ${bytes.length} bytes is too large`, kept })
    }
    this.pending.push({ n, bytes })
    this.pendingBytes += bytes.length
    this.startWriting()
    return n
  }

  /** Resolves when everything appended so far is on disk. */
  async durable(): Promise<void> {
    const n = this.assigned
    while (this.file.head < n) {
      if (this.closed) throw new Failure("NOT_FOUND", "The session is gone.")
      await this.changed()
    }
  }

  hasRoom(): boolean {
    return (
      !this.stuck && this.pendingBytes < MAX_UNWRITTEN_BYTES && this.end() + this.pendingBytes - this.ackedOffset < this.limits.unackedBytes
    )
  }

  async room(unless: AbortSignal): Promise<void> {
    while (!this.hasRoom() && !unless.aborted && !this.closed) await this.changed(unless)
  }

  ack(n: number): void {
    if (n > this.file.head) throw new Failure("INVALID_INPUT", `Record ${n} does not exist; the newest is ${this.file.head}.`)
    if (n <= this.acked) return
    this.acked = n
    const keep = n === this.file.head ? { n: n + 1, offset: this.end() } : this.file.index.atOrBefore(n + 1)
    if (keep && keep.offset > this.ackedOffset) {
      this.ackedOffset = keep.offset
      this.keepFrom = keep.n
    }
    if (this.wantsCut()) this.startWriting()
    this.tell()
  }

  /** A reader that is ahead knows records this disk has lost: their numbers must not be used again, or it would skip the new ones. */
  continueAfter(after: number): void {
    if (after <= this.assigned) return
    if (after - this.assigned > MAX_LOST_RECORDS)
      throw new Failure("INVALID_INPUT", `Record ${after} does not exist; the newest is ${this.file.head}.`)
    const lost = after - this.assigned
    this.assigned = after
    this.append({ kind: "record.rejected", sha256: "", reason: `${lost} records were lost ${ON_DISK}` })
  }

  /** In place of records that were on disk and are not any more: somebody has cut the file. What was read of one is no record. */
  lostFrom(offset: number): { bytes: Buffer; offset: number } {
    this.log.error("spool.cut_by_others", new Error(`nothing at ${offset} of ${this.end()}`), { session_id: this.file.header.session_id })
    const line = serialise(this.file.head, { kind: "record.rejected", sha256: "", reason: `the records up to here were lost ${ON_DISK}` })
    return { bytes: Buffer.concat([Buffer.from("\n"), line]), offset: this.end() }
  }

  /** Where the records after `n` begin. */
  async locate(n: number): Promise<number> {
    const entry = this.file.index.atOrBefore(n + 1)
    if (!entry) return this.firstOffset
    const stop = entry.next ?? this.end()
    let offset = entry.offset
    let toSkip = n + 1 - entry.n
    while (toSkip > 0 && offset < stop) {
      const bytes = await this.read(offset, Math.min(READ_BYTES, stop - offset))
      if (bytes === null || bytes.length === 0) return offset
      let at = 0
      while (toSkip > 0) {
        const newline = bytes.indexOf(10, at)
        if (newline < 0) break
        at = newline + 1
        toSkip--
      }
      offset += toSkip > 0 ? bytes.length : at
    }
    return Math.min(offset, stop)
  }

  /** Asked and answered in one tick with `changed()`: a record that came in between would wait for the next one. */
  isAtEnd(offset: number): boolean {
    return !this.closed && offset >= this.firstOffset && offset >= this.end()
  }

  /** The next bytes on disk from there on; empty at the end, null when they have been cut or the spool is gone. */
  async read(offset: number, atMost = READ_BYTES): Promise<Buffer | null> {
    if (this.closed || offset < this.firstOffset) return null
    const length = Math.min(atMost, this.end() - offset)
    if (length <= 0) return Buffer.alloc(0)
    const fresh = offset - (this.tail?.offset ?? Number.POSITIVE_INFINITY)
    if (this.tail && fresh >= 0) return this.tail.bytes.subarray(fresh, fresh + length)
    const buffer = Buffer.allocUnsafe(length)
    // Handle and base are taken in the same tick as the read is issued: closing waits for it, so a cut cannot come between.
    const { bytesRead } = await this.file.handle.read(buffer, 0, length, offset - this.base)
    return buffer.subarray(0, bytesRead)
  }

  get isClosed(): boolean {
    return this.closed
  }

  /** Resolves at the next change: records on disk, an acknowledgement, the end. */
  changed(unless?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        this.listeners.delete(done)
        unless?.removeEventListener("abort", done)
        resolve()
      }
      if (unless?.aborted || this.closed) return resolve()
      this.listeners.add(done)
      unless?.addEventListener("abort", done)
    })
  }

  async close(): Promise<void> {
    if (this.closed) return
    this.closed = true
    this.tell()
    await this.writing
    await this.file.handle.close()
  }

  private end(): number {
    return this.file.size + this.base
  }

  private tell(): void {
    for (const listener of [...this.listeners]) listener()
  }

  private wantsCut(): boolean {
    const acked = this.ackedOffset - this.firstOffset
    // Rewriting much to free little would make a slow reader cost the disk its whole backlog again and again.
    return Date.now() >= this.noCutBefore && acked >= this.limits.cutBytes && acked >= (this.end() - this.ackedOffset) / 2
  }

  private startWriting(): void {
    this.writing ??= Promise.resolve()
      .then(() => this.write())
      .finally(() => {
        this.writing = null
        // An acknowledgement or a record may have come after the last look.
        if (!this.closed && (this.pending.length > 0 || this.wantsCut())) this.startWriting()
      })
  }

  /** While one batch is being synced the next one gathers: many records share a sync, a single one waits for nobody. */
  private async write(): Promise<void> {
    while (this.pending.length > 0 || (this.wantsCut() && !this.closed)) {
      if (this.wantsCut()) await this.cut().catch((error) => this.cutFailed(error))
      const batch = this.pending
      if (batch.length === 0) continue
      this.pending = []
      const bytes = Buffer.concat(batch.map((line) => line.bytes))
      if (!(await this.writeDurably(bytes))) return
      let offset = this.end()
      for (const line of batch) {
        this.file.index.add(line.n, offset, line.n !== this.file.head + 1)
        this.file.head = line.n
        offset += line.bytes.length
      }
      this.tail = bytes.length <= READ_BYTES ? { offset: this.end(), bytes } : null
      this.file.size += bytes.length
      this.pendingBytes -= bytes.length
      this.tell()
    }
  }

  private async writeDurably(bytes: Buffer): Promise<boolean> {
    for (;;) {
      try {
        await writeAll(this.file.handle, bytes, this.file.size)
        killPoint("spool.written")
        await this.file.handle.datasync()
        killPoint("spool.synced")
        this.stuck = false
        return true
      } catch (error) {
        if (!this.stuck) this.log.error("spool.write_failed", error, { session_id: this.file.header.session_id })
        this.stuck = true
        if (this.closed) return false
        await new Promise((resolve) => setTimeout(resolve, RETRY_WRITE_MS))
      }
    }
  }

  private async cut(): Promise<void> {
    // Acknowledgements may come while the file is rewritten; this cut keeps to what it began with.
    const from = this.ackedOffset
    const header = { ...this.file.header, first: this.keepFrom }
    const old = this.file.handle
    const { handle, headerBytes } = await cutSpoolFile(this.path, old, header, from - this.base, this.file.size)
    this.file.handle = handle
    this.file.header = header
    this.file.size = this.file.size - (from - this.base) + headerBytes
    this.base = from - headerBytes
    this.firstOffset = from
    this.file.index.beginAt(header.first, from)
    await old.close()
  }

  /** Failing to free space must not stop writing, nor be tried for every record. */
  private cutFailed(error: unknown): void {
    this.log.error("spool.cut_failed", error, { session_id: this.file.header.session_id })
    this.noCutBefore = Date.now() + RETRY_CUT_MS
  }
}

const serialise = (n: number, record: NewSpoolRecord): Buffer =>
  Buffer.from(`${JSON.stringify({ n, ts: new Date().toISOString(), ...record })}\n`)

import { createHash } from "node:crypto"
import { type BigIntStats, closeSync, constants, fstatSync, fsyncSync, openSync, readlinkSync, readSync, writeSync } from "node:fs"
import { join } from "node:path"
import type { AgentFile } from "../../../lib/contracts/agentctl/archive"
import type { LeftOut } from "../../../lib/contracts/left-out"
import { Failure, messageOf } from "../failure"
import type { PipedGit } from "../git"
import { SESSION_ID_FILE } from "../session-manager"
import { listAgentFiles } from "./agent-files"
import {
  type ArchiveHead,
  encodeName,
  FORMAT,
  type GitFileState,
  HEAD_ENTRY,
  MANIFEST_ENTRY,
  MAX_ENTRIES,
  MAX_LINKS,
  type ManifestLine,
  showName,
} from "./archive-format"
import { BlockSink } from "./block-sink"
import { captureGit } from "./capture-git"
import { type Compression, hashFile, openCompressor, trailer } from "./compress"
import { mayBeNamed } from "./entry-rules"
import { LeftOutSummary, type Missing } from "./left-out"
import { joinBytes, leavesRoot } from "./links"
import { type Listed, type Listing, listWorkspace, readListed, statOf } from "./list-workspace"
import { NameWriter } from "./name-list"
import { writeEnd, writeHeader, writePadding } from "./tar-write"

/** A file up to this size is read whole before its header is written, so that it may change while it is read. */
const WHOLE_BYTES = 256 * 1024
const WHOLE_TRIES = 3
/** Not through a link that took the file's place, and not waiting for a writer of a fifo. */
const READ_ONLY = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
/** Kept for git's state when it is decided whether the daemon's own records still fit. */
const GIT_ROOM = 1024 * 1024
/** Times in nanoseconds: as milliseconds they are rounded, and a file changed within that would look unchanged. */
const EXACT = { bigint: true } as const

export interface PackJob {
  root: string
  workspace_kind: "folder" | "worktree"
  branch: string | null
  /** A folder of its own for lists and drafts; the caller removes it. */
  work: string
  /** The file to write; it must not exist. */
  target: string
  compression: Compression
  agent_session_id: string | null
  agent_files: AgentFile[]
  /** The daemon's own records of the session, each under its name in the archive: the changes, what terminals showed. */
  records: AgentFile[]
  /** What is known to be missing before anything is packed. */
  left_out: Missing[]
  max_bytes: number
}

export interface Progress {
  bytes: number
  files: number
  total_bytes: number
  total_files: number
}
export interface Packed extends Progress {
  archive_bytes: number
  sha256: string
  left_out: LeftOut
}

export async function packWorkspace(job: PackJob, git: PipedGit, tell: (progress: Progress) => void): Promise<Packed> {
  const leftOut = new LeftOutSummary()
  for (const missing of job.left_out) leftOut.add(missing)
  const listing = await listWorkspace({ root: job.root, kind: job.workspace_kind, work: job.work, git, leftOut })
  const agent = listAgentFiles(job.agent_files)
  for (const path of agent.credentials) leftOut.add({ reason: "credentials", path })
  const fd = openSync(job.target, "wx+", 0o600)
  try {
    const pack = new Pack(job, listing, agent.bytes, agent.files.length, leftOut, tell)
    await compressed(job.compression, fd, async (sink) => {
      pack.sink = sink
      await pack.head()
      await pack.records()
      await pack.workspace()
      for (const file of agent.files) await pack.file(Buffer.from(`agent/${file.as}`), Buffer.from(file.path), true)
      await pack.git(git)
    })
    const manifestAt = fstatSync(fd).size
    await compressed(job.compression, fd, async (sink) => {
      pack.sink = sink
      await pack.end()
    })
    writeSync(fd, trailer(job.compression, manifestAt), 0, null, fstatSync(fd).size)
    fsyncSync(fd)
    const { sha256, bytes } = hashFile(fd)
    return { ...pack.progress, archive_bytes: bytes, sha256, left_out: leftOut.all }
  } finally {
    closeSync(fd)
  }
}

/** What is written to the sink, compressed by itself and appended to the file. */
async function compressed(kind: Compression, fd: number, write: (sink: BlockSink) => Promise<void>): Promise<void> {
  const { input, finished } = openCompressor(kind, fd)
  try {
    const sink = new BlockSink(input)
    await write(sink)
    await sink.end()
  } catch (error) {
    input.destroy()
    // A compressor that ran out of disk breaks the pipe; its own word is the reason.
    throw await finished.then(
      () => error,
      (reason) => (reason instanceof Failure && !(error instanceof Failure) ? reason : error),
    )
  }
  await finished
}

class Pack {
  /** Where entries go: the content's compressor, then the manifest's. */
  sink!: BlockSink
  readonly progress: Progress
  private entries = 0
  private links = 0
  private emptyFolders = 0
  private content = 0
  private readonly manifest: NameWriter
  private readonly manifestFile: string
  private readonly scratch = Buffer.allocUnsafe(WHOLE_BYTES)
  private readonly created = new Date().toISOString()

  constructor(
    private readonly job: PackJob,
    private readonly listing: Listing,
    agentBytes: number,
    agentFiles: number,
    private readonly leftOut: LeftOutSummary,
    private readonly tell: (progress: Progress) => void,
  ) {
    this.progress = { bytes: 0, files: 0, total_bytes: listing.bytes + agentBytes, total_files: listing.files + agentFiles }
    // Known already: not a byte is written for what cannot be finished.
    if (this.progress.total_bytes > job.max_bytes) throw tooLarge(job.max_bytes)
    if (this.progress.total_files > MAX_ENTRIES) throw tooMany("files")
    this.manifestFile = join(job.work, "manifest")
    this.manifest = new NameWriter(this.manifestFile)
    this.line({ format: FORMAT, created_at: this.created })
  }

  leaveOut(path: string, reason: Missing["reason"]): void {
    this.leftOut.add({ path, reason })
  }

  async head(): Promise<void> {
    const { total_bytes, total_files } = this.progress
    const head: ArchiveHead = {
      format: FORMAT,
      created_at: this.created,
      workspace_kind: this.job.workspace_kind,
      files: total_files,
      bytes: total_bytes,
    }
    await this.bytes(Buffer.from(HEAD_ENTRY), Buffer.from(JSON.stringify(head)))
    if (this.job.agent_session_id) await this.bytes(Buffer.from(SESSION_ID_FILE), Buffer.from(this.job.agent_session_id))
  }

  /** First, so that whoever wants to look at them need not read the content. They never make an archive too large. */
  async records(): Promise<void> {
    let room = this.job.max_bytes - this.progress.total_bytes - GIT_ROOM
    for (const { path, as } of this.job.records) {
      const size = statOf(Buffer.from(path))?.size ?? 0
      room -= size
      if (room >= 0) await this.file(Buffer.from(as), Buffer.from(path), false)
      else if (as.startsWith("terminals/")) this.leftOut.add({ reason: "terminal_output", path: as, bytes: size })
    }
  }

  async workspace(): Promise<void> {
    const root = Buffer.from(this.job.root)
    const prefix = Buffer.from("workspace/")
    for (const repository of this.listing.repositories) {
      for (const listed of readListed(repository)) {
        const inArchive = Buffer.concat([prefix, listed.name])
        // What a reader refuses would make the whole archive worthless.
        if (!mayBeNamed(inArchive)) this.leaveOut(showName(listed.name), "refused_name")
        else if (listed.isFolder) await this.folder(inArchive, joinBytes(root, listed.name))
        else await this.item(inArchive, root, listed)
      }
    }
  }

  /** The state of every repository in the workspace. */
  async git(git: PipedGit): Promise<void> {
    const { job } = this
    let n = 0
    for (const repository of this.listing.repositories) {
      if (!repository.git) continue
      const cwd = joinBytes(Buffer.from(job.root), repository.path).toString("utf8")
      const branch = repository.git === "worktree" ? job.branch : null
      const captured = await captureGit({
        git,
        cwd,
        path: repository.path,
        kind: repository.git,
        branch,
        draft: join(job.work, `git-${n}`),
      })
      for (const { path, reason } of captured.omitted) this.leaveOut(path, reason)
      await this.bytes(Buffer.from(`git/${n}/state.json`), Buffer.from(JSON.stringify(captured.state)))
      for (const { as, path } of captured.files) await this.file(Buffer.from(`git/${n}/${as}`), Buffer.from(path), false)
      n++
    }
  }

  async end(): Promise<void> {
    const { bytes, files } = this.progress
    this.line({ end: true, entries: this.entries, files, bytes, left_out: this.leftOut.all })
    this.manifest.close()
    writeHeader(this.sink, { name: Buffer.from(MANIFEST_ENTRY), type: "file", size: this.manifest.bytes, mode: 0o600, mtimeSeconds: 0 })
    const fd = openSync(this.manifestFile, "r")
    try {
      await this.stream(fd, this.manifest.bytes, null, "manifest")
    } finally {
      closeSync(fd)
    }
    writePadding(this.sink, this.manifest.bytes)
    writeEnd(this.sink)
    this.tell(this.progress)
  }

  /** A file into the archive. One that cannot be read or is gone is left out and named; nothing of it has been written by then. */
  async file(name: Buffer, path: Buffer, counts: boolean, git: GitFileState | null = null): Promise<void> {
    const shown = showName(name)
    let fd: number
    try {
      fd = openSync(path, READ_ONLY)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === "ENOENT" || code === "ENOTDIR" || code === "ELOOP") return this.leaveOut(shown, "vanished")
      if (code === "EACCES" || code === "EPERM") return this.leaveOut(shown, "unreadable")
      if (code === "ENXIO") return this.leaveOut(shown, "special_file")
      throw new Failure("WORKSPACE_FAILED", `${shown} cannot be read: ${messageOf(error)}`)
    }
    try {
      const before = fstatSync(fd, EXACT)
      if (!before.isFile()) return this.leaveOut(shown, "special_file")
      const whole = before.size < WHOLE_BYTES ? this.readWhole(fd, before) : null
      const stats = whole?.stats ?? before
      const size = whole?.bytes.length ?? Number(before.size)
      this.mayHold(size)
      const mode = Number(stats.mode) & 0o777
      const mtime = Number(stats.mtimeNs / 1000n)
      writeHeader(this.sink, { name, type: "file", size, mode, mtimeSeconds: mtime / 1e6 })
      const hash = createHash("sha256")
      if (whole) {
        hash.update(whole.bytes)
        this.sink.write(whole.bytes)
        if (this.sink.isFull) await this.sink.room()
      } else {
        await this.stream(fd, size, hash, shown)
        const after = fstatSync(fd, EXACT)
        if (after.size !== before.size || after.mtimeNs !== before.mtimeNs) throw changed(shown)
      }
      writePadding(this.sink, size)
      this.line({ p: encodeName(name), size, mode, sha256: hash.digest("hex"), mtime, ...(git && { git }) })
      this.count(size, counts)
    } finally {
      closeSync(fd)
    }
  }

  private async item(name: Buffer, root: Buffer, { name: relative, git }: Listed): Promise<void> {
    const path = joinBytes(root, relative)
    const stats = statOf(path)
    if (!stats) return this.leaveOut(showName(relative), "vanished")
    if (stats.isFile()) return this.file(name, path, true, git)
    if (!stats.isSymbolicLink()) return this.leaveOut(showName(relative), "special_file")
    const target = readlinkSync(path, { encoding: "buffer" })
    // Unpacked elsewhere it would point at somebody else's file, and every reader of ours refuses it.
    if (leavesRoot(root, relative, target)) return this.leaveOut(showName(relative), "outward_link")
    this.mayHold(0)
    if (++this.links > MAX_LINKS) throw tooMany("links")
    writeHeader(this.sink, { name, type: "link", size: 0, mode: 0o777, mtimeSeconds: stats.mtimeMs / 1000, target })
    this.line({ p: encodeName(name), link: encodeName(target), mtime: microseconds(stats), ...(git && { git }) })
    this.count(0, true)
    if (this.sink.isFull) await this.sink.room()
  }

  /** An empty one. */
  private async folder(name: Buffer, path: Buffer): Promise<void> {
    const stats = statOf(path)
    if (!stats?.isDirectory()) return this.leaveOut(`${showName(name)}/`, "vanished")
    this.mayHold(0)
    if (++this.emptyFolders > MAX_LINKS) throw tooMany("empty folders")
    const mode = stats.mode & 0o777
    writeHeader(this.sink, { name, type: "folder", size: 0, mode, mtimeSeconds: stats.mtimeMs / 1000 })
    this.line({ p: encodeName(name), folder: true, mode, mtime: microseconds(stats) })
    this.count(0, false)
    if (this.sink.isFull) await this.sink.room()
  }

  /** Made here, not read from the workspace. */
  private async bytes(name: Buffer, bytes: Buffer): Promise<void> {
    this.mayHold(bytes.length)
    const now = Date.now()
    writeHeader(this.sink, { name, type: "file", size: bytes.length, mode: 0o600, mtimeSeconds: now / 1000 })
    this.sink.write(bytes)
    writePadding(this.sink, bytes.length)
    const sha256 = createHash("sha256").update(bytes).digest("hex")
    this.line({ p: encodeName(name), size: bytes.length, mode: 0o600, sha256, mtime: now * 1000 })
    this.count(bytes.length, false)
    if (this.sink.isFull) await this.sink.room()
  }

  /** All of it as it was at one moment, or FILE_CHANGED when it does not hold still. */
  private readWhole(fd: number, first: BigIntStats): { bytes: Buffer; stats: BigIntStats } | null {
    let before = first
    for (let tries = 0; tries < WHOLE_TRIES; tries++) {
      let used = 0
      for (;;) {
        const count = readSync(fd, this.scratch, used, WHOLE_BYTES - used, used)
        used += count
        if (count === 0 || used === WHOLE_BYTES) break
      }
      const after = fstatSync(fd, EXACT)
      if (Number(after.size) === used && after.mtimeNs === before.mtimeNs) return { bytes: this.scratch.subarray(0, used), stats: after }
      before = after
      if (after.size >= WHOLE_BYTES) return null
    }
    throw changed(`a file of ${first.size} bytes`)
  }

  private async stream(fd: number, size: number, hash: { update(bytes: Buffer): unknown } | null, shown: string): Promise<void> {
    for (let at = 0; at < size; ) {
      if (this.sink.isFull) await this.sink.room()
      const space = this.sink.space()
      const count = readSync(fd, space, 0, Math.min(space.length, size - at), at)
      if (count === 0) throw changed(shown)
      hash?.update(space.subarray(0, count))
      this.sink.advance(count)
      at += count
    }
  }

  private mayHold(size: number): void {
    this.content += size
    if (this.content > this.job.max_bytes) throw tooLarge(this.job.max_bytes)
    if (++this.entries > MAX_ENTRIES) throw tooMany("files")
  }

  private count(bytes: number, isFile: boolean): void {
    if (!isFile) return
    this.progress.bytes += bytes
    this.progress.files++
    this.tell(this.progress)
  }

  private line(value: ManifestLine | object): void {
    this.manifest.add(Buffer.from(JSON.stringify(value)), 0x0a)
  }
}

const microseconds = ({ mtimeMs }: { mtimeMs: number }): number => Math.round(mtimeMs * 1000)
const changed = (what: string) => new Failure("FILE_CHANGED", `${what} was changed while it was being archived.`)
const tooLarge = (limit: number) => new Failure("ARCHIVE_TOO_LARGE", `The workspace holds more than the allowed ${limit} bytes.`)
const tooMany = (what: "files" | "links" | "empty folders") =>
  new Failure("ARCHIVE_TOO_LARGE", `The workspace holds more than ${what === "files" ? MAX_ENTRIES : MAX_LINKS} ${what}.`)

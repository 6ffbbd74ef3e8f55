import { createHash, type Hash } from "node:crypto"
import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  utimesSync,
  writeSync,
} from "node:fs"
import { join } from "node:path"
import type { LeftOut } from "../../../lib/contracts/left-out"
import { Failure } from "../failure"
import { SESSION_ID_FILE } from "../session-manager"
import {
  decodeName,
  encodeName,
  HEAD_ENTRY,
  MANIFEST_ENTRY,
  MAX_LINKS,
  type ManifestEnd,
  type ManifestLine,
  parseEnd,
  parseLine,
  parseManifestHead,
  showName,
} from "./archive-format"
import { hashFile, readTrailer } from "./compress"
import { EntryRules, type Place } from "./entry-rules"
import { joinBytes, leavesRoot, split } from "./links"
import { NameWriter, readNames } from "./name-list"
import type { Progress } from "./pack"
import { readManifestAt, readTar } from "./read-archive"
import { hostile, type TarBody, type TarItem, TarReader } from "./tar-read"

export interface UnpackJob {
  file: string
  sha256: string
  bytes: number
  /** A folder of its own, empty: workspace/, agent/ and git/ appear in it. */
  draft: string
  /** Where the workspace will lie; links into it by its absolute path are inside. */
  home: string
  /** Of each folder of the workspace; the archive keeps none. */
  folder_mode: number
  max_bytes: number
}
export interface Unpacked extends Progress {
  agent_session_id: string | null
  left_out: LeftOut
}
export type Phase = "checking" | "unpacking" | "verifying"

const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW

/** Unpacks into the draft and checks every file against the manifest. Nothing outside the draft is written, whatever the archive says. */
export async function unpackArchive(job: UnpackJob, tell: (phase: Phase, progress: Progress) => void): Promise<Unpacked> {
  const fd = openSync(job.file, "r")
  try {
    const none = { files: 0, total_files: 0 }
    const found = hashFile(fd, (bytes) => tell("checking", { ...none, bytes, total_bytes: job.bytes }))
    if (found.bytes !== job.bytes || found.sha256 !== job.sha256) {
      throw new Failure("CHECKSUM_MISMATCH", `The archive is not the one that was made: ${found.bytes} of ${job.bytes} bytes.`)
    }
    const unpacking = new Unpacking(job, (progress) => tell("unpacking", progress))
    await readTar(fd, 0, unpacking.reader)
    await unpacking.checkIndex(fd)
    return unpacking.finish((progress) => tell("verifying", progress))
  } catch (error) {
    throw asFailure(error)
  } finally {
    closeSync(fd)
  }
}

function asFailure(error: unknown): unknown {
  const code = (error as NodeJS.ErrnoException).code
  if (code === "ENOSPC" || code === "EDQUOT") return new Failure("DISK_FULL", "There is no room on the disk to unpack the archive.")
  if (code === "EEXIST" || code === "ENOTDIR" || code === "EISDIR") return hostile("it names something twice")
  if (code === "ENAMETOOLONG") return hostile("a name in it is too long")
  return error
}

class Unpacking {
  readonly reader = new TarReader((item) => this.open(item))
  private readonly draft: Buffer
  private readonly folders = new Set<string>()
  private readonly links: { name: Buffer; target: Buffer }[] = []
  private readonly ledger: NameWriter
  private readonly ledgerFile: string
  private readonly empty: Buffer[] = []
  private readonly rules: EntryRules
  private manifestHash = ""
  private readonly progress: Progress = { bytes: 0, files: 0, total_bytes: 0, total_files: 0 }

  constructor(
    private readonly job: UnpackJob,
    private readonly tell: (progress: Progress) => void,
  ) {
    this.draft = Buffer.from(job.draft)
    this.rules = new EntryRules(job.max_bytes)
    this.ledgerFile = join(job.draft, "unpacked")
    this.ledger = new NameWriter(this.ledgerFile)
    for (const name of ["workspace", "agent", "git", "terminals"]) {
      mkdirSync(join(job.draft, name), { mode: 0o700 })
      this.folders.add(name)
    }
    chmodSync(join(job.draft, "workspace"), job.folder_mode)
  }

  private open(item: TarItem): TarBody | null {
    const place = this.rules.place(item)
    const { name, type, size, mode, target } = item
    if (type === "link") return this.link(name, target)
    if (type === "folder") return this.folder(name, mode)
    return this.file(name, place, size, mode)
  }

  private link(name: Buffer, target: Buffer): null {
    if (target.length === 0 || target.includes(0)) throw hostile("a link in it points nowhere")
    if (this.links.length >= MAX_LINKS) throw hostile("it holds too many links")
    // Made when all files are written: nothing can be written through them.
    this.links.push({ name, target })
    this.note({ p: encodeName(name), link: encodeName(target), ...(this.rules.format === 2 && { mtime: 0 }) })
    this.count(0, true)
    return null
  }

  private folder(name: Buffer, mode: number): null {
    const parts = split(name)
    this.makeFolders(this.rules.format === 1 ? parts : parts.slice(0, -1))
    if (this.rules.format === 1) this.note({ p: encodeName(name), folder: true })
    else {
      if (this.empty.length >= MAX_LINKS) throw hostile("it holds too many empty folders")
      // Made by itself, so that a folder with something in it, or named twice, is refused; closed by its mode when all is written.
      mkdirSync(joinBytes(this.draft, ...parts), 0o700)
      this.empty.push(Buffer.from(name))
      this.note({ p: encodeName(name), folder: true, mode, mtime: 0 })
    }
    return null
  }

  private file(name: Buffer, place: Place, size: number, mode: number): TarBody {
    const parts = split(name)
    this.makeFolders(parts.slice(0, -1))
    const fd = openSync(joinBytes(this.draft, ...parts), CREATE, 0o600)
    const hash: Hash = createHash("sha256")
    return {
      write: (bytes) => {
        hash.update(bytes)
        for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at, bytes.length - at)
      },
      end: () => {
        fchmodSync(fd, mode)
        closeSync(fd)
        if (place === "head") this.readHead()
        if (place === "manifest") {
          this.manifestHash = hash.digest("hex")
          return
        }
        this.note({ p: encodeName(name), size, mode, sha256: hash.digest("hex"), mtime: 0 })
        this.count(size, place === "workspace" || place === "agent")
      },
    }
  }

  private readHead(): void {
    const { bytes, files } = this.rules.readHead(readFileSync(join(this.job.draft, HEAD_ENTRY), "utf8"))
    this.progress.total_bytes = bytes
    this.progress.total_files = files
  }

  /** Real folders all the way: links are made only after the last file. */
  private makeFolders(parts: Buffer[]): void {
    const key = Buffer.concat(parts.flatMap((part) => [part, SLASH])).toString("latin1")
    if (this.folders.has(key) || parts.length === 0) return
    this.makeFolders(parts.slice(0, -1))
    const path = joinBytes(this.draft, ...parts)
    try {
      mkdirSync(path, 0o700)
      // Not by the umask: that one is for files of our own, and a thread cannot change it.
      chmodSync(path, this.job.folder_mode)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST" || !lstatSync(path).isDirectory()) throw error
    }
    this.folders.add(key)
  }

  /** What a reader is shown that looks at the list alone must be what is unpacked. */
  async checkIndex(fd: number): Promise<void> {
    if (this.rules.format === 1) return
    const at = readTrailer(fd)
    if (at === null) throw new Failure("ARCHIVE_BROKEN", "The archive breaks off.")
    const hash = createHash("sha256")
    await readManifestAt(fd, at, (bytes) => hash.update(bytes))
    if (hash.digest("hex") !== this.manifestHash) throw hostile("it has two manifests")
  }

  /** Links, then every entry against the manifest, then the times. */
  finish(tell: (progress: Progress) => void): Unpacked {
    this.ledger.close()
    if (!this.rules.over) throw new Failure("ARCHIVE_BROKEN", "The archive has no manifest.")
    const workspace = Buffer.from(join(this.job.draft, "workspace"))
    for (const { name, target } of this.links) {
      const parts = split(name)
      this.makeFolders(parts.slice(0, -1))
      symlinkSync(target, joinBytes(this.draft, ...parts))
    }
    for (const { name, target } of this.links) {
      if (leavesRoot(workspace, joinBytes(...split(name).slice(1)), target, Buffer.from(this.job.home))) {
        throw hostile(`the link ${showName(name)} leads out of the workspace`)
      }
    }
    for (const name of this.empty)
      if (readdirSync(joinBytes(this.draft, name)).length > 0) throw hostile(`the folder ${showName(name)} is empty and is not`)
    const { left_out } = this.compare(tell)
    return { ...this.progress, left_out, agent_session_id: this.sessionId() }
  }

  private compare(tell: (progress: Progress) => void): ManifestEnd {
    const { format } = this.rules
    const manifest = readNames(join(this.job.draft, MANIFEST_ENTRY), 0x0a)
    const next = () => (manifest.next().value as Buffer | undefined)?.toString("utf8") ?? ""
    if (!parseManifestHead(format, next())) throw untrue("its first line")
    const verified: Progress = { bytes: 0, files: 0, total_bytes: this.progress.bytes, total_files: this.progress.files }
    let count = 0
    for (const line of readNames(this.ledgerFile, 0x0a)) {
      const unpacked = parseLine(format, line.toString("utf8"))
      const claimed = parseLine(format, next())
      if (!unpacked || !claimed || !isSame(unpacked, claimed)) throw untrue(unpacked ? showName(decodeName(unpacked.p)) : "its order")
      count++
      this.finishEntry(joinBytes(this.draft, decodeName(unpacked.p)), claimed)
      if ("sha256" in claimed) verified.bytes += claimed.size
      verified.files = Math.min(verified.files + 1, verified.total_files)
      tell(verified)
    }
    const end = parseEnd(format, next())
    if (!end || end.entries !== count || end.files !== this.progress.files || !manifest.next().done) throw untrue("its end")
    return end
  }

  /** Times and modes come last: what is made in a folder, or closed, would change them. */
  private finishEntry(path: Buffer, line: ManifestLine): void {
    if (!("mtime" in line)) return
    // utimes drops what is below a microsecond: without the half, a quotient rounded down would lose a whole one.
    const seconds = (line.mtime + 0.5) / 1e6
    if ("link" in line) lutimesSync(path, seconds, seconds)
    else utimesSync(path, seconds, seconds)
    if ("folder" in line) chmodSync(path, line.mode)
  }

  private sessionId(): string | null {
    try {
      return readFileSync(join(this.job.draft, SESSION_ID_FILE), "utf8").trim() || null
    } catch {
      return null
    }
  }

  private note(line: ManifestLine): void {
    this.ledger.add(Buffer.from(JSON.stringify(line)), 0x0a)
  }

  private count(bytes: number, isFile: boolean): void {
    if (!isFile) return
    this.progress.bytes += bytes
    this.progress.files++
    this.tell(this.progress)
  }
}

const SLASH = Buffer.from("/")

function isSame(a: ManifestLine, b: ManifestLine): boolean {
  if (!decodeName(a.p).equals(decodeName(b.p))) return false
  if ("sha256" in a) return "sha256" in b && a.sha256 === b.sha256 && a.size === b.size && a.mode === b.mode
  if ("link" in a) return "link" in b && decodeName(a.link).equals(decodeName(b.link))
  if (!("folder" in a) || !("folder" in b)) return false
  return "mode" in a && "mode" in b ? a.mode === b.mode : !("mode" in a) && !("mode" in b)
}

const untrue = (what: string) => new Failure("ARCHIVE_BROKEN", `The archive does not hold what its manifest says: ${what}.`)

import { createHash, type Hash } from "node:crypto"
import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  symlinkSync,
  utimesSync,
  writeSync,
} from "node:fs"
import { join } from "node:path"
import { Failure } from "../failure"
import { SESSION_ID_FILE } from "../session-manager"
import {
  ArchiveHead,
  decodeName,
  encodeName,
  FORMAT,
  HEAD_ENTRY,
  MANIFEST_ENTRY,
  MAX_ENTRIES,
  MAX_LINKS,
  ManifestEnd,
  ManifestHead,
  ManifestLine,
  showName,
} from "./archive-format"
import { hashFile, openDecompressor } from "./compress"
import { joinBytes, leavesRoot, split } from "./links"
import { NameWriter, readNames } from "./name-list"
import type { Progress } from "./pack"
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
}
export type Phase = "checking" | "unpacking" | "verifying"

const MAX_NAME_BYTES = 4096
const MAX_PART_BYTES = 255
const MAX_SMALL_BYTES = 64 * 1024
const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
const GIT_ENTRY = /^git\/\d{1,6}\/(state\.json|index|intent|flags|pack)$/

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
    const { output, finished } = openDecompressor(fd)
    let ours: unknown = null
    try {
      for await (const chunk of output) {
        try {
          unpacking.reader.write(chunk as Buffer)
        } catch (error) {
          ours = error
          throw error
        }
      }
    } catch (error) {
      output.destroy()
      // Its end follows from ours; only without one is the decompressor's word the reason.
      const why = await finished.then(
        () => error,
        (reason) => reason,
      )
      throw ours ?? why
    }
    await finished
    unpacking.reader.end()
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
  private head: ArchiveHead | null = null
  private entries = 0
  private content = 0
  private overManifest = false
  private readonly progress: Progress = { bytes: 0, files: 0, total_bytes: 0, total_files: 0 }

  constructor(
    private readonly job: UnpackJob,
    private readonly tell: (progress: Progress) => void,
  ) {
    this.draft = Buffer.from(job.draft)
    this.ledgerFile = join(job.draft, "unpacked")
    this.ledger = new NameWriter(this.ledgerFile)
    for (const name of ["workspace", "agent", "git"]) {
      mkdirSync(join(job.draft, name), { mode: 0o700 })
      this.folders.add(name)
    }
    chmodSync(join(job.draft, "workspace"), job.folder_mode)
  }

  private open({ name, type, size, mode, target }: TarItem): TarBody | null {
    if (this.overManifest) throw hostile("it goes on after its manifest")
    const place = placeOf(name)
    if (this.head === null && place !== "head") throw new Failure("ARCHIVE_BROKEN", "The archive does not begin with its head.")
    if (this.head !== null && place === "head") throw hostile("it names something twice")
    if (++this.entries > MAX_ENTRIES) throw hostile("it holds too many files")
    this.content += size
    if (this.content > this.job.max_bytes + MAX_ENTRIES * 200) throw hostile("it unpacks to more than is allowed")
    if (place === "manifest") this.overManifest = true
    else if (this.content > this.job.max_bytes) throw hostile("it unpacks to more than is allowed")
    if (type !== "file" && place !== "workspace") throw hostile("a link in it is in the wrong place")
    if (type === "link") return this.link(name, target)
    if (type === "folder") return this.folder(name)
    return this.file(name, place, size, mode)
  }

  private link(name: Buffer, target: Buffer): null {
    if (target.length === 0 || target.includes(0)) throw hostile("a link in it points nowhere")
    if (this.links.length >= MAX_LINKS) throw hostile("it holds too many links")
    // Made when all files are written: nothing can be written through them.
    this.links.push({ name, target })
    this.note({ p: encodeName(name), link: encodeName(target) })
    this.count(0, true)
    return null
  }

  private folder(name: Buffer): null {
    this.makeFolders(split(name))
    this.note({ p: encodeName(name), folder: true })
    return null
  }

  private file(name: Buffer, place: Place, size: number, mode: number): TarBody {
    const parts = split(name)
    this.makeFolders(parts.slice(0, -1))
    const small = place === "head" || place === "session_id"
    if (small && size > MAX_SMALL_BYTES) throw hostile("its head is too long")
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
        if (place === "manifest") return
        this.note({ p: encodeName(name), size, mode, sha256: hash.digest("hex"), mtime: 0 })
        this.count(size, place === "workspace" || place === "agent")
      },
    }
  }

  private readHead(): void {
    const head = ArchiveHead.safeParse(parseJson(readFileSync(join(this.job.draft, HEAD_ENTRY), "utf8")))
    if (!head.success) throw new Failure("ARCHIVE_BROKEN", "The archive's head cannot be read.")
    if (head.data.format !== FORMAT)
      throw new Failure("ARCHIVE_UNSUPPORTED", `The archive has format ${head.data.format}; this host reads ${FORMAT}.`)
    this.head = head.data
    this.progress.total_bytes = head.data.bytes
    this.progress.total_files = head.data.files
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

  /** Links, then every entry against the manifest, then the times. */
  finish(tell: (progress: Progress) => void): Unpacked {
    this.ledger.close()
    if (!this.overManifest) throw new Failure("ARCHIVE_BROKEN", "The archive has no manifest.")
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
    this.compare(tell)
    return { ...this.progress, agent_session_id: this.sessionId() }
  }

  private compare(tell: (progress: Progress) => void): void {
    const manifest = readNames(join(this.job.draft, MANIFEST_ENTRY), 0x0a)
    const first = manifest.next().value as Buffer | undefined
    if (!ManifestHead.safeParse(parseJson(first?.toString("utf8") ?? "")).success) throw untrue("its first line")
    const verified: Progress = { bytes: 0, files: 0, total_bytes: this.progress.bytes, total_files: this.progress.files }
    let count = 0
    for (const line of readNames(this.ledgerFile, 0x0a)) {
      const unpacked = ManifestLine.parse(parseJson(line.toString("utf8")))
      const claimed = ManifestLine.safeParse(parseJson((manifest.next().value as Buffer | undefined)?.toString("utf8") ?? ""))
      const name = decodeName(unpacked.p)
      if (!claimed.success || !isSame(unpacked, claimed.data)) throw untrue(showName(name))
      count++
      if ("sha256" in claimed.data) {
        // utimes drops what is below a microsecond: without the half, a quotient rounded down would lose a whole one.
        const seconds = (claimed.data.mtime + 0.5) / 1e6
        utimesSync(joinBytes(this.draft, name), seconds, seconds)
        verified.bytes += claimed.data.size
      }
      verified.files = Math.min(verified.files + 1, verified.total_files)
      tell(verified)
    }
    const last = ManifestEnd.safeParse(parseJson((manifest.next().value as Buffer | undefined)?.toString("utf8") ?? ""))
    if (!last.success || last.data.entries !== count || last.data.files !== this.progress.files || !manifest.next().done)
      throw untrue("its end")
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
type Place = "head" | "session_id" | "manifest" | "workspace" | "agent" | "git"

/** Which part of the archive a name belongs to; every other name is refused. */
function placeOf(name: Buffer): Place {
  if (name.length === 0 || name.length > MAX_NAME_BYTES || name.includes(0)) throw hostile("a name in it is empty or too long")
  if (name[0] === 0x2f || name.at(-1) === 0x2f) throw hostile("a name in it is absolute")
  const parts = name.toString("latin1").split("/")
  for (const part of parts) {
    if (part === "" || part === "." || part === "..") throw hostile("a name in it leads out of the workspace")
    if (part.length > MAX_PART_BYTES) throw hostile("a name in it is too long")
  }
  const [top = "", ...rest] = parts
  if (rest.length === 0) {
    if (top === HEAD_ENTRY) return "head"
    if (top === SESSION_ID_FILE) return "session_id"
    if (top === MANIFEST_ENTRY) return "manifest"
  } else if (top === "workspace") {
    // Hooks and configuration run programs: git's own files are never taken from an archive.
    if (rest.some((part) => part.toLowerCase() === ".git")) throw hostile("it holds files of git's own")
    return "workspace"
  } else if (top === "agent") return "agent"
  else if (GIT_ENTRY.test(parts.join("/"))) return "git"
  throw hostile("it holds something that does not belong there")
}

function isSame(a: ManifestLine, b: ManifestLine): boolean {
  if (!decodeName(a.p).equals(decodeName(b.p))) return false
  if ("sha256" in a) return "sha256" in b && a.sha256 === b.sha256 && a.size === b.size && a.mode === b.mode
  if ("link" in a) return "link" in b && decodeName(a.link).equals(decodeName(b.link))
  return "folder" in b
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

const untrue = (what: string) => new Failure("ARCHIVE_BROKEN", `The archive does not hold what its manifest says: ${what}.`)

import { RECORDED_CHANGES_MAX_BYTES } from "../../../lib/contracts/agentctl/archive"
import { Failure } from "../failure"
import { ARCHIVED_OUTPUT_MAX_BYTES } from "../pty/archived-output"
import { SESSION_ID_FILE } from "../session-manager"
import { ArchiveHead, CHANGES_ENTRY, type Format, HEAD_ENTRY, MANIFEST_ENTRY, MAX_ENTRIES, parseJson } from "./archive-format"
import { hostile, type TarItem } from "./tar-read"

/** What may be in an archive, and where: whatever our writer would not have written is refused, by everybody who reads one. */

const MAX_NAME_BYTES = 4096
const MAX_PART_BYTES = 255
const MAX_SMALL_BYTES = 64 * 1024
const GIT_ENTRY = /^git\/\d{1,6}\/(state\.json|index|intent|flags|pack)$/
const TERMINAL_ENTRY = /^terminals\/wrk_[A-Za-z0-9_-]{1,60}$/

export type Place = "head" | "session_id" | "changes" | "terminals" | "manifest" | "workspace" | "agent" | "git"

/** Judges entry after entry of one archive. */
export class EntryRules {
  head: ArchiveHead | null = null
  over = false
  private entries = 0
  private content = 0

  constructor(private readonly maxBytes: number) {}

  get format(): Format {
    return this.head?.format === 2 ? 2 : 1
  }

  place({ name, type, size }: TarItem): Place {
    if (this.over) throw hostile("it goes on after its manifest")
    const place = placeOf(name)
    if (this.head === null && place !== "head") throw new Failure("ARCHIVE_BROKEN", "The archive does not begin with its head.")
    if (this.head !== null && place === "head") throw hostile("it names something twice")
    if (this.format === 1 && (place === "changes" || place === "terminals")) throw hostile("it holds something that does not belong there")
    if (++this.entries > MAX_ENTRIES) throw hostile("it holds too many files")
    this.content += size
    if (this.content > this.maxBytes + MAX_ENTRIES * 200) throw hostile("it unpacks to more than is allowed")
    if (place === "manifest") this.over = true
    else if (this.content > this.maxBytes) throw hostile("it unpacks to more than is allowed")
    if (type !== "file" && place !== "workspace") throw hostile("a link in it is in the wrong place")
    if ((place === "head" || place === "session_id") && size > MAX_SMALL_BYTES) throw hostile("its head is too long")
    if (place === "changes" && size > RECORDED_CHANGES_MAX_BYTES) throw hostile("its list of changes is too long")
    if (place === "terminals" && size > ARCHIVED_OUTPUT_MAX_BYTES) throw hostile("a terminal's output in it is too long")
    return place
  }

  readHead(text: string): ArchiveHead {
    const head = ArchiveHead.safeParse(parseJson(text)).data
    if (!head) throw new Failure("ARCHIVE_BROKEN", "The archive's head cannot be read.")
    if (head.format !== 1 && head.format !== 2)
      throw new Failure("ARCHIVE_UNSUPPORTED", `The archive has format ${head.format}; this host reads 1 and 2.`)
    this.head = head
    return head
  }
}

/** Which part of the archive a name belongs to; every other name is refused. */
export function placeOf(name: Buffer): Place {
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
    if (top === CHANGES_ENTRY) return "changes"
    if (top === MANIFEST_ENTRY) return "manifest"
  } else if (top === "workspace") {
    // Hooks and configuration run programs: git's own files are never taken from an archive.
    if (rest.some((part) => part.toLowerCase() === ".git")) throw hostile("it holds files of git's own")
    return "workspace"
  } else if (top === "agent") return "agent"
  else if (TERMINAL_ENTRY.test(parts.join("/"))) return "terminals"
  else if (GIT_ENTRY.test(parts.join("/"))) return "git"
  throw hostile("it holds something that does not belong there")
}

/** Whether a reader would take this name. */
export function mayBeNamed(name: Buffer): boolean {
  try {
    placeOf(name)
    return true
  } catch {
    return false
  }
}

import { createHash, randomUUID } from "node:crypto"
import { closeSync, fsyncSync, mkdirSync, openSync, readdirSync, renameSync, rmSync, statSync, writeSync } from "node:fs"
import { stat } from "node:fs/promises"
import { join } from "node:path"
import { Sha256 } from "../../lib/contracts/ids"

/** All of a session together; what comes beyond is named and not kept. */
const MAX_KEPT_BYTES = 64 * 1024 * 1024
const DRAFT = ".part"

export type Rejected = { sha256: string; bytes: number; kept: boolean }

/**
 * What an agent said that is too large or too deep to be journalled, as files beside the spool: `record.rejected` names each by its
 * sha256, and a user can still download it. Written synchronously, since it is taken in the middle of reading the agent's output.
 */
export class RejectedFiles {
  private used: number | null = null

  constructor(
    private readonly folder: string,
    private readonly limit = MAX_KEPT_BYTES,
  ) {}

  keep(bytes: Buffer): Rejected {
    const writer = this.begin()
    writer.write(bytes)
    return writer.end()
  }

  begin(): RejectedWriter {
    return new RejectedWriter(this.folder, {
      left: () => this.limit - this.measure(),
      took: (bytes) => {
        this.used = this.measure() + bytes
      },
    })
  }

  /** Null when there is none of that name. */
  async find(sha256: string): Promise<{ name: string; folder: string } | null> {
    const name = Sha256.parse(sha256)
    return (await stat(join(this.folder, name)).catch(() => null)) ? { name, folder: this.folder } : null
  }

  private measure(): number {
    this.used ??= sizeOf(this.folder)
    return this.used
  }
}

type Room = { left: () => number; took: (bytes: number) => void }

export class RejectedWriter {
  private readonly hash = createHash("sha256")
  private readonly draft: string
  private fd: number | null = null
  private bytes = 0
  private lost = false

  constructor(
    private readonly folder: string,
    private readonly room: Room,
  ) {
    this.draft = join(folder, `${randomUUID()}${DRAFT}`)
  }

  write(bytes: Buffer): void {
    this.hash.update(bytes)
    this.bytes += bytes.length
    if (this.lost) return
    if (this.bytes > this.room.left()) return this.giveUp()
    try {
      if (this.fd === null) {
        mkdirSync(this.folder, { recursive: true, mode: 0o700 })
        this.fd = openSync(this.draft, "wx", 0o600)
      }
      for (let at = 0; at < bytes.length; ) at += writeSync(this.fd, bytes, at)
    } catch {
      // A full disk must not end the reader: the record is named, not kept.
      this.giveUp()
    }
  }

  end(): Rejected {
    const sha256 = this.hash.digest("hex")
    if (this.fd === null) return { sha256, bytes: this.bytes, kept: false }
    try {
      fsyncSync(this.fd)
      closeSync(this.fd)
      this.fd = null
      renameSync(this.draft, join(this.folder, sha256))
      this.room.took(this.bytes)
      return { sha256, bytes: this.bytes, kept: true }
    } catch {
      this.giveUp()
      return { sha256, bytes: this.bytes, kept: false }
    }
  }

  private giveUp(): void {
    this.lost = true
    if (this.fd !== null) closeSync(this.fd)
    this.fd = null
    rmSync(this.draft, { force: true })
  }
}

/** Drafts of a daemon that was killed are removed on the way. */
function sizeOf(folder: string): number {
  let bytes = 0
  for (const name of readNames(folder)) {
    if (name.endsWith(DRAFT)) rmSync(join(folder, name), { force: true })
    else bytes += statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0
  }
  return bytes
}

function readNames(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

import { readdirSync } from "node:fs"
import { LEFT_OUT_NAMED, LEFT_OUT_REASONS, type LeftOut, type LeftOutGroup, type LeftOutReason } from "../../../lib/contracts/left-out"
import { shortenPath, showName } from "./archive-format"
import { joinBytes } from "./links"
import { statOf } from "./list-workspace"

/** Files of ignored folders that are counted, all folders together; what lies beyond is not worth the time it takes. */
const COUNTED_FILES = 20_000

export type Missing = { reason: LeftOutReason; path: string; bytes?: number | null; files?: number | null }

/** Gathers what an archive leaves out, as counts and the first names. */
export class LeftOutSummary {
  private readonly groups = new Map<LeftOutReason, LeftOutGroup>()
  private toCount = COUNTED_FILES

  add({ reason, path, bytes = null, files = null }: Missing): void {
    const group = this.groups.get(reason)
    if (!group) {
      this.groups.set(reason, { reason, count: 1, bytes, names: [{ path: shortenPath(path), files }] })
      return
    }
    group.count++
    group.bytes = group.bytes === null || bytes === null ? null : group.bytes + bytes
    if (group.names.length < LEFT_OUT_NAMED) group.names.push({ path: shortenPath(path), files })
  }

  /** A file or, by its slash at the end, a whole folder that git ignores. */
  ignored(root: Buffer, name: Buffer): void {
    const isFolder = name.at(-1) === SLASH
    const found = isFolder ? this.measure(joinBytes(root, name.subarray(0, -1))) : { bytes: statOf(joinBytes(root, name))?.size ?? 0 }
    this.add({ reason: "ignored", path: showName(name), ...found })
  }

  /** In the order in which the reasons are listed. */
  get all(): LeftOut {
    return LEFT_OUT_REASONS.flatMap((reason) => this.groups.get(reason) ?? [])
  }

  /** Files and bytes of a folder; nulls once more were counted than is worth it. */
  private measure(folder: Buffer): { files: number | null; bytes: number | null } {
    let files = 0
    let bytes = 0
    const pending = [folder]
    for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
      if (this.toCount <= 0) return { files: null, bytes: null }
      for (const entry of entriesOf(at)) {
        this.toCount--
        const path = joinBytes(at, entry.name)
        if (entry.isDirectory()) pending.push(path)
        else {
          files++
          bytes += statOf(path)?.size ?? 0
        }
        if (this.toCount <= 0) return { files: null, bytes: null }
      }
    }
    return { files, bytes }
  }
}

const SLASH = 0x2f

function entriesOf(folder: Buffer) {
  try {
    return readdirSync(folder, { withFileTypes: true, encoding: "buffer" })
  } catch {
    return []
  }
}

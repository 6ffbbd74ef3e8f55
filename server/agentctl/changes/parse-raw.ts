import type { ChangeStatus } from "../../../lib/contracts/workspace"

/** git's `--raw --numstat -z` output, in pure functions: names in it may hold anything but a NUL. */

export type RawChange = {
  path: string
  oldPath: string | null
  status: ChangeStatus
  oldId: string
  newId: string
  submodule: boolean
  added: number | null
  removed: number | null
  binary: boolean
  /** False for a file that was touched and is the same: git lists it, and then finds nothing to count. */
  differs: boolean
}

export type RawCommit = { id: string; author: string; at: string; subject: string; parents: string[]; changes: RawChange[] }

/** One field a commit, then its changes: `\x01id`, parents, author, time, subject. */
export const COMMIT_FORMAT = "%x01%H%x00%P%x00%an%x00%aI%x00%s"

const GITLINK = "160000"
const statuses: Record<string, ChangeStatus> = {
  A: "added",
  M: "modified",
  D: "deleted",
  R: "renamed",
  C: "copied",
  T: "type_changed",
  U: "conflicted",
}

export const fieldsOf = (output: Buffer): string[] => {
  const text = output.toString("utf8")
  return text === "" ? [] : (text.endsWith("\0") ? text.slice(0, -1) : text).split("\0")
}

export function parseChanges(fields: readonly string[]): RawChange[] {
  const changes: RawChange[] = []
  const byPath = new Map<string, RawChange>()
  for (let at = 0; at < fields.length; ) {
    const head = (fields[at++] ?? "").replace(/^\n/, "")
    const [, oldMode, newMode, oldId = "", newId = "", letter = ""] = /^:(\d+) (\d+) ([0-9a-f]+) ([0-9a-f]+) ([A-Z])\d*$/.exec(head) ?? []
    if (letter) {
      const moved = letter === "R" || letter === "C"
      const first = fields[at++] ?? ""
      const path = moved ? (fields[at++] ?? "") : first
      const change: RawChange = {
        path,
        oldPath: moved ? first : null,
        status: statuses[letter] ?? "modified",
        oldId,
        newId,
        submodule: oldMode === GITLINK || newMode === GITLINK,
        added: null,
        removed: null,
        binary: false,
        differs: letter === "U",
      }
      // An unmerged path comes twice: as such, and compared with the work tree.
      const known = byPath.get(path)
      if (known?.status === "conflicted") continue
      if (known) changes.splice(changes.indexOf(known), 1)
      byPath.set(path, change)
      changes.push(change)
      continue
    }
    const counts = /^(\d+|-)\t(\d+|-)\t([\s\S]*)$/.exec(head)
    if (!counts) continue
    const path = counts[3] === "" ? (fields[at + 1] ?? "") : (counts[3] as string)
    if (counts[3] === "") at += 2
    const change = byPath.get(path)
    if (!change) continue
    change.differs = true
    change.binary = counts[1] === "-"
    change.added = change.binary ? null : Number(counts[1])
    change.removed = change.binary ? null : Number(counts[2])
  }
  return changes
}

export function parseCommits(fields: readonly string[]): RawCommit[] {
  const starts = fields.flatMap((field, at) => (field.startsWith("\x01") ? [at] : []))
  return starts.map((start, i) => {
    const [id = "", parents = "", author = "", at = "", subject = ""] = fields.slice(start, start + 5)
    return {
      id: id.slice(1),
      parents: parents.split(" ").filter(Boolean),
      author,
      at,
      subject,
      changes: parseChanges(fields.slice(start + 5, starts[i + 1] ?? fields.length)),
    }
  })
}

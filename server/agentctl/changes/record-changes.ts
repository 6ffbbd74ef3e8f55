import { RECORDED_CHANGES_MAX_BYTES, type RecordedChanges } from "../../../lib/contracts/agentctl/archive"
import type { ChangedFile, Changes } from "../../../lib/contracts/workspace"
import { readFileDiff } from "./file-diff"
import { readChanges } from "./read-changes"
import type { Repository } from "./repository"

/** A diff beyond any of these is not recorded; its file is listed all the same. Each costs a process or two of git's. */
const MAX_DIFFS = 200
const MAX_DIFF_BYTES = 256 * 1024
const MAX_MS = 2_000
/** Lists and diffs have this room each; the rest is for what is told of commits. */
const HALF_BYTES = (RECORDED_CHANGES_MAX_BYTES / 16) * 7

/** What pages show of a workspace's changes, to be shown when the workspace is not there any more. */
export async function recordChanges(repository: Repository, signal: AbortSignal): Promise<RecordedChanges> {
  const changes = shortened(await readChanges(repository, new Map(), ""))
  const until = performance.now() + MAX_MS
  const diffs: RecordedChanges["diffs"] = []
  let room = HALF_BYTES
  for (const { file, of } of changedFiles(changes).slice(0, MAX_DIFFS)) {
    if (signal.aborted || performance.now() > until) break
    const found = await readFileDiff(repository, file.path, file.old_path, of).catch(() => null)
    if (!found) continue
    const whole = found.diff !== null && found.bytes <= MAX_DIFF_BYTES
    const recorded = { ...found, diff: whole ? found.diff : null, limit_bytes: MAX_DIFF_BYTES }
    const size = sizeOf(recorded)
    if (size > room) continue
    room -= size
    diffs.push(recorded)
  }
  return { changes, diffs }
}

const sizeOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value)) + 1

/** Those with a text to show, what is not committed first. */
function changedFiles({ conflicts, staged, unstaged, untracked, commits }: Changes): { file: ChangedFile; of: string }[] {
  const as = (files: readonly ChangedFile[], of: string) => files.flatMap((file) => (file.binary ? [] : [{ file, of }]))
  return [
    ...[...as(conflicts, "unstaged"), ...as(staged, "staged"), ...as(unstaged, "unstaged"), ...as(untracked, "untracked")],
    ...commits.flatMap(({ id, files }) => as(files, id)),
  ]
}

/** Names may be long: what has no room is told as "more". */
function shortened(changes: Changes): Changes {
  let room = HALF_BYTES
  let isCut = false
  const cut = (files: ChangedFile[]): ChangedFile[] => {
    const kept = files.filter((file) => {
      room -= sizeOf(file)
      return room >= 0
    })
    isCut ||= kept.length < files.length
    return kept
  }
  const lists = { conflicts: cut(changes.conflicts), staged: cut(changes.staged), unstaged: cut(changes.unstaged) }
  const untracked = cut(changes.untracked)
  const commits = changes.commits.map((commit) => ({
    ...commit,
    subject: commit.subject.slice(0, MAX_SUBJECT_CHARS),
    author: commit.author.slice(0, MAX_AUTHOR_CHARS),
    files: cut(commit.files),
  }))
  return { ...changes, ...lists, untracked, commits, truncated: changes.truncated || isCut }
}
const MAX_SUBJECT_CHARS = 1000
const MAX_AUTHOR_CHARS = 200

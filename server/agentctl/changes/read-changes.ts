import { lstat } from "node:fs/promises"
import { join } from "node:path"
import type { ChangedFile, Changes } from "../../../lib/contracts/workspace"
import { openFile } from "../workspace-files/inside"
import { isUploadDraft } from "../workspace-files/receive-file"
import { COMMIT_FORMAT, fieldsOf, parseChanges, parseCommits, type RawChange } from "./parse-raw"
import type { Repository } from "./repository"

/** What a page can show in a list; the rest is told as "more". */
const MAX_FILES = 1000
const MAX_COMMITS = 100
/** Lines of new files are counted up to this size, and for so many files; it happens at every change. */
const COUNTED_BYTES = 1024 * 1024
const COUNTED_FILES = 300
const MAX_OUTPUT = 16 * 1024 * 1024

/** No program of anybody's, no colours, no look into other repositories, and names as they are. */
export const PLAIN = ["--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=dirty", "-M"]
const LISTED = ["--raw", "--numstat", "-z", "--abbrev=64", ...PLAIN]
/** Needs no content. */
const NAMED = ["--raw", "-z", "--abbrev=64", "--no-renames"]

type Commits = { key: string; commits: Changes["commits"]; truncated: boolean }
/** The commits of a session change rarely, its files all the time. */
export type CommitCache = Map<string, Commits>

export async function readChanges(repository: Repository, cache: CommitCache, cacheKey: string): Promise<Changes> {
  const { head, branch, emptyTree, read } = repository
  const [stagedOutput, unstagedOutput, untrackedOutput, committed] = await Promise.all([
    read(["diff", "--cached", ...LISTED, head ?? emptyTree, "--"], { keep: MAX_OUTPUT }),
    read(["diff", ...LISTED, "--"], { keep: MAX_OUTPUT }),
    read(["ls-files", "-z", "--others", "--exclude-standard", ...ownExcludes(repository)], { keep: MAX_OUTPUT }),
    readCommits(repository, cache, cacheKey),
  ])
  const staged = parseChanges(fieldsOf(stagedOutput.stdout))
  const unstaged = parseChanges(fieldsOf(unstagedOutput.stdout)).filter(({ differs }) => differs)
  const untracked = fieldsOf(untrackedOutput.stdout).filter((path) => !isUploadDraft(path.split("/").at(-1) ?? ""))
  const conflicted = new Set([...staged, ...unstaged].flatMap(({ status, path }) => (status === "conflicted" ? [path] : [])))
  const [conflicts, outside] = partition(unstaged, ({ path }) => conflicted.has(path))
  const inside = staged.filter(({ path }) => !conflicted.has(path))
  const sizes = await sizesOf(repository, [...inside, ...outside].slice(0, 2 * MAX_FILES))
  const lists = [inside, outside, untracked, conflicts]
  return {
    branch,
    head,
    conflicts: await Promise.all(conflicts.slice(0, MAX_FILES).map((change) => inWorkTree(repository.root, change, sizes))),
    staged: inside.slice(0, MAX_FILES).map((change) => betweenObjects(change, sizes)),
    unstaged: await Promise.all(outside.slice(0, MAX_FILES).map((change) => inWorkTree(repository.root, change, sizes))),
    untracked: await readUntracked(repository.root, untracked.slice(0, MAX_FILES)),
    commits: committed.commits,
    truncated: committed.truncated || lists.some((list) => list.length > MAX_FILES),
  }
}

const ownExcludes = ({ commonDir }: Repository) => [`--exclude-from=${join(commonDir, "info/exclude")}`]

async function readCommits(repository: Repository, cache: CommitCache, cacheKey: string): Promise<Commits> {
  const { head, read } = repository
  if (head === null) return { key: "", commits: [], truncated: false }
  const bases = await repository.bases()
  const key = [head, ...bases].join(" ")
  const known = cache.get(cacheKey)
  if (known?.key === key) return known
  const input = Buffer.from([head, ...bases.map((id) => `^${id}`)].join("\n"))
  const log = ["log", "--stdin", "-n", String(MAX_COMMITS + 1), `--format=${COMMIT_FORMAT}`, "--diff-merges=first-parent"]
  const pipe = { input, keep: MAX_OUTPUT }
  // Objects a partial clone does not have are not fetched: its commits are then named without counts.
  const { stdout, bytes } = await read([...log, ...LISTED], pipe).catch(() => read([...log, ...NAMED], pipe))
  // The commit every folder begins with holds nothing, and nobody made it.
  const raw = parseCommits(fieldsOf(stdout)).filter(({ parents, changes }) => parents.length > 0 || changes.length > 0)
  const shown = raw.slice(0, MAX_COMMITS)
  const sizes = await sizesOf(
    repository,
    shown.flatMap(({ changes }) => changes.slice(0, MAX_FILES)).filter(({ binary }) => binary),
  )
  const commits = shown.map(({ id, subject, author, at, changes }) => {
    return { id, subject, author, at, files: changes.slice(0, MAX_FILES).map((change) => betweenObjects(change, sizes)) }
  })
  const truncated = raw.length > MAX_COMMITS || bytes > MAX_OUTPUT || shown.some(({ changes }) => changes.length > MAX_FILES)
  const found = { key, commits, truncated }
  cache.set(cacheKey, found)
  return found
}

/** Sizes of the objects that are named; a work tree's file has none. */
async function sizesOf({ read }: Repository, changes: readonly RawChange[]): Promise<Map<string, number>> {
  const ids = [...new Set(changes.flatMap(({ oldId, newId, submodule }) => (submodule ? [] : [oldId, newId])))].filter((id) => !isNone(id))
  if (ids.length === 0) return new Map()
  const { stdout } = await read(["cat-file", "--batch-check=%(objectname) %(objectsize)"], { input: Buffer.from(`${ids.join("\n")}\n`) })
  const lines = stdout.toString("utf8").split("\n")
  return new Map(lines.flatMap((line) => (/^[0-9a-f]+ \d+$/.test(line) ? [[line.split(" ")[0], Number(line.split(" ")[1])] as never] : [])))
}

const isNone = (id: string) => /^0+$/.test(id)

const common = ({ path, oldPath, status, added, removed, binary }: RawChange) => ({
  path,
  old_path: oldPath,
  status,
  added,
  removed,
  binary,
})

const betweenObjects = (change: RawChange, sizes: Map<string, number>): ChangedFile => ({
  ...common(change),
  old_bytes: sizes.get(change.oldId) ?? null,
  new_bytes: sizes.get(change.newId) ?? null,
  version: `${change.oldId.slice(0, 16)}-${change.newId.slice(0, 16)}`,
})

async function inWorkTree(root: string, change: RawChange, sizes: Map<string, number>): Promise<ChangedFile> {
  const info = await lstat(join(root, change.path), { bigint: true }).catch(() => null)
  return {
    ...common(change),
    old_bytes: sizes.get(change.oldId) ?? null,
    new_bytes: info ? Number(info.size) : null,
    version: `${change.oldId.slice(0, 16)}-${info ? `${info.mtimeNs}-${info.size}` : "gone"}`,
  }
}

async function readUntracked(root: string, paths: readonly string[]): Promise<ChangedFile[]> {
  const files: ChangedFile[] = []
  for (const [at, path] of paths.entries()) {
    const info = await lstat(join(root, path), { bigint: true }).catch(() => null)
    if (!info) continue
    const counted = at < COUNTED_FILES && info.isFile() && info.size <= COUNTED_BYTES ? await countLines(root, path) : null
    files.push({
      path,
      old_path: null,
      status: "added",
      added: counted?.lines ?? null,
      removed: counted?.lines == null ? null : 0,
      binary: counted?.binary ?? false,
      old_bytes: null,
      new_bytes: info.isFile() ? Number(info.size) : null,
      version: `${info.ino}-${info.mtimeNs}-${info.size}`,
    })
  }
  return files
}

async function countLines(root: string, path: string): Promise<{ lines: number | null; binary: boolean } | null> {
  const opened = await openFile(root, path).catch(() => null)
  if (!opened) return null
  try {
    const content = await opened.file.readFile()
    if (isBinary(content)) return { lines: null, binary: true }
    let lines = 0
    for (let at = content.indexOf(10); at !== -1; at = content.indexOf(10, at + 1)) lines++
    return { lines: content.length > 0 && content.at(-1) !== 10 ? lines + 1 : lines, binary: false }
  } finally {
    await opened.file.close()
  }
}

/** As git decides it: a NUL among the first bytes. */
export const isBinary = (content: Buffer): boolean => content.subarray(0, 8000).includes(0)

function partition<T>(items: readonly T[], belongs: (item: T) => boolean): [T[], T[]] {
  return [items.filter(belongs), items.filter((item) => !belongs(item))]
}

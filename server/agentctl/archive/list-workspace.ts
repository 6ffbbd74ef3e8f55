import { closeSync, existsSync, lstatSync, openSync, readdirSync, realpathSync, type Stats } from "node:fs"
import { join } from "node:path"
import { messageOf } from "../failure"
import type { PipedGit } from "../git"
import { type GitFileState, showName } from "./archive-format"
import type { LeftOutSummary } from "./left-out"
import { joinBytes } from "./links"
import { NameWriter, readNames } from "./name-list"

/** What is in a workspace: what git tracks and does not ignore, in it and in every repository that was cloned into it. */

const GIT = Buffer.from(".git")
const SLASH = 0x2f
/** Ignored folders that are remembered while empty ones are looked for. Beyond them, empty folders in ignored ones are kept as well. */
const MAX_SKIPPED = 100_000

export interface ListedRepository {
  /** Relative to the workspace; empty for the workspace itself. */
  path: Buffer
  /** Null: git cannot read it; all its files are listed. */
  git: "own" | "worktree" | null
  /** A file of names, each ended by NUL; `readListed` reads it. */
  names: string
}

export interface Listing {
  repositories: ListedRepository[]
  files: number
  bytes: number
}

/** What git has to say of a name, as the first byte of it in the list. */
const STATES: Record<string, GitFileState | null> = { "=": "unchanged", m: "modified", u: "untracked", "-": null }
const LETTERS = { unchanged: "=", modified: "m", untracked: "u" } as const
const letterOf = (state: GitFileState | null): Buffer => Buffer.from(state === null ? "-" : LETTERS[state])

export interface Listed {
  /** Relative to the workspace. */
  name: Buffer
  git: GitFileState | null
  isFolder: boolean
}

/** Each in turn. Valid until the next one is asked for. */
export function* readListed({ names }: ListedRepository): Generator<Listed> {
  for (const line of readNames(names)) {
    const isFolder = line.at(-1) === SLASH
    yield { name: line.subarray(1, isFolder ? -1 : undefined), git: STATES[String.fromCharCode(line[0] ?? 0)] ?? null, isFolder }
  }
}

type Options = { root: string; kind: "folder" | "worktree"; work: string; git: PipedGit; leftOut: LeftOutSummary }

export async function listWorkspace({ root, kind, work, git, leftOut }: Options): Promise<Listing> {
  const rootBytes = Buffer.from(root)
  const listing: Listing = { repositories: [], files: 0, bytes: 0 }
  const pending: Buffer[] = [Buffer.alloc(0)]
  for (let path = pending.shift(); path !== undefined; path = pending.shift()) {
    const names = join(work, `names-${listing.repositories.length}`)
    const folder = joinBytes(rootBytes, path)
    const readable = await isRepository(git, folder)
    const raw = readable ? await gitNames(git, folder, `${names}.raw`) : walk(folder)
    const found = {
      path: Buffer.from(path),
      git: readable ? (path.length === 0 && kind === "worktree" ? "worktree" : "own") : null,
      names,
    } as const
    listing.repositories.push(found)
    const writer = new NameWriter(names)
    for (const { name, git: state } of raw) {
      const nested = name.at(-1) === SLASH
      const full = joinBytes(path, nested ? name.subarray(0, -1) : name)
      const stats = statOf(joinBytes(rootBytes, full))
      // Deleted in the work tree; the index says so.
      if (!stats) continue
      if (stats.isDirectory()) {
        if (existsSync(joinBytes(rootBytes, full, GIT))) pending.push(Buffer.from(full))
        else if (nested)
          for (const inner of walk(joinBytes(rootBytes, full))) count(listing, writer, rootBytes, joinBytes(full, inner.name), state)
        continue
      }
      add(listing, writer, full, stats, state)
    }
    const ignored = readable ? await ignoredNames(git, folder, `${names}.ignored`) : []
    const skipped = new Set<string>()
    for (const name of ignored) {
      const full = joinBytes(path, name)
      leftOut.ignored(rootBytes, full)
      if (name.at(-1) === SLASH && skipped.size < MAX_SKIPPED) skipped.add(name.toString("latin1"))
    }
    const unreadable = (name: Buffer) => leftOut.add({ reason: "unreadable", path: `${showName(joinBytes(path, name))}/` })
    for (const empty of emptyFolders(folder, skipped, unreadable))
      writer.add(Buffer.concat([letterOf(null), joinBytes(path, empty), Buffer.from("/")]))
    writer.close()
  }
  return listing
}

function add(listing: Listing, writer: NameWriter, full: Buffer, stats: Stats, state: GitFileState | null): void {
  writer.add(Buffer.concat([letterOf(state), full]))
  listing.files++
  if (stats.isFile()) listing.bytes += stats.size
}

function count(listing: Listing, writer: NameWriter, root: Buffer, full: Buffer, state: GitFileState | null): void {
  const stats = statOf(joinBytes(root, full))
  if (stats && !stats.isDirectory()) add(listing, writer, full, stats, state)
}

/** Its own top: git in a folder whose own `.git` is broken would answer for a repository around it. */
async function isRepository(git: PipedGit, folder: Buffer): Promise<boolean> {
  if (!existsSync(joinBytes(folder, GIT))) return false
  const path = folder.toString("utf8")
  if (!Buffer.from(path).equals(folder)) return false
  try {
    const { stdout } = await git(path, ["rev-parse", "--show-toplevel"])
    return stdout.toString("utf8").replace(/\n$/, "") === realpathSync(path)
  } catch (error) {
    if (/could not be run/.test(messageOf(error))) throw error
    return false
  }
}

type Named = { name: Buffer; git: GitFileState | null }

/** What git tracks and what it neither tracks nor ignores. Both lists come in the order of the index, so that neither is held in memory. */
async function gitNames(git: PipedGit, folder: Buffer, file: string): Promise<Generator<Named>> {
  await gitList(git, folder, ["ls-files", "-z", "-t", "-co", "--exclude-standard"], file)
  await gitList(git, folder, ["diff-files", "-z", "--name-only", "--no-renames", "--ignore-submodules"], `${file}.modified`)
  return withState(file, `${file}.modified`)
}

function* withState(listed: string, modified: string): Generator<Named> {
  const differing = readNames(modified)
  try {
    let differs = differing.next().value as Buffer | undefined
    let last: Buffer = Buffer.alloc(0)
    for (const row of readNames(listed)) {
      // "H name": a letter, a space, the name.
      const name = row.subarray(2)
      if (row[0] === UNTRACKED) {
        yield { name, git: "untracked" }
        continue
      }
      // A conflict is listed once for each side.
      if (name.equals(last)) continue
      last = Buffer.from(name)
      while (differs && differs.compare(name) < 0) differs = differing.next().value as Buffer | undefined
      yield { name, git: differs?.equals(name) ? "modified" : "unchanged" }
    }
  } finally {
    differing.return(undefined)
  }
}
const UNTRACKED = 0x3f

/** Files, and folders with a slash where they hold nothing else. An ignored folder without a file is none of them: it is kept as empty. */
async function ignoredNames(git: PipedGit, folder: Buffer, file: string): Promise<Generator<Buffer>> {
  await gitList(git, folder, ["ls-files", "-z", "-oi", "--exclude-standard", "--directory", "--no-empty-directory"], file)
  return readNames(file)
}

async function gitList(git: PipedGit, folder: Buffer, args: string[], file: string): Promise<void> {
  const fd = openSync(file, "wx", 0o600)
  try {
    await git(folder.toString("utf8"), args, { output: fd })
  } finally {
    closeSync(fd)
  }
}

/** Every file below; a folder with a `.git` of its own is named with a slash and not entered. */
function* walk(folder: Buffer, prefix: Buffer = Buffer.alloc(0)): Generator<Named> {
  for (const entry of readdirSync(joinBytes(folder, prefix), { withFileTypes: true, encoding: "buffer" as "utf8" })) {
    const entryName = entry.name as unknown as Buffer
    if (entryName.equals(GIT)) continue
    const name = joinBytes(prefix, entryName)
    if (!entry.isDirectory()) yield { name, git: null }
    else if (existsSync(joinBytes(folder, name, GIT))) yield { name: Buffer.concat([name, Buffer.from("/")]), git: null }
    else yield* walk(folder, name)
  }
}

/**
 * Folders with nothing in them, which git does not know. Folders that are ignored are not entered, nor repositories inside this one,
 * which are listed by themselves.
 */
function* emptyFolders(
  folder: Buffer,
  skipped: ReadonlySet<string>,
  unreadable: (name: Buffer) => void,
  prefix: Buffer = Buffer.alloc(0),
): Generator<Buffer> {
  const entries = foldersIn(joinBytes(folder, prefix))
  if (!entries) return unreadable(prefix)
  if (prefix.length > 0 && entries.isRepository) return
  if (prefix.length > 0 && entries.isEmpty) yield prefix
  for (const inner of entries.folders) {
    const name = joinBytes(prefix, inner)
    if (!skipped.has(`${name.toString("latin1")}/`)) yield* emptyFolders(folder, skipped, unreadable, name)
  }
}

function foldersIn(path: Buffer): { folders: Buffer[]; isEmpty: boolean; isRepository: boolean } | null {
  try {
    const entries = readdirSync(path, { withFileTypes: true, encoding: "buffer" as "utf8" })
    const named = entries.map((entry) => ({ name: entry.name as unknown as Buffer, isFolder: entry.isDirectory() }))
    const folders = named.flatMap(({ name, isFolder }) => (isFolder && !name.equals(GIT) ? [name] : []))
    return { folders, isEmpty: named.length === 0, isRepository: named.some(({ name }) => name.equals(GIT)) }
  } catch {
    return null
  }
}

export function statOf(path: Buffer): Stats | null {
  try {
    return lstatSync(path)
  } catch {
    return null
  }
}

import { closeSync, existsSync, lstatSync, openSync, readdirSync, realpathSync, type Stats } from "node:fs"
import { join } from "node:path"
import { messageOf } from "../failure"
import type { PipedGit } from "../git"
import { joinBytes } from "./links"
import { NameWriter, readNames } from "./name-list"

/** What is in a workspace: what git tracks and does not ignore, in it and in every repository that was cloned into it. */

const GIT = Buffer.from(".git")
const SLASH = 0x2f

export interface ListedRepository {
  /** Relative to the workspace; empty for the workspace itself. */
  path: Buffer
  /** Null: git cannot read it; all its files are listed. */
  git: "own" | "worktree" | null
  /** A file of names relative to the workspace, each ended by NUL. */
  names: string
}

export interface Listing {
  repositories: ListedRepository[]
  files: number
  bytes: number
}

export async function listWorkspace(options: { root: string; kind: "folder" | "worktree"; work: string; git: PipedGit }): Promise<Listing> {
  const { root, kind, work, git } = options
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
    for (const name of raw) {
      const nested = name.at(-1) === SLASH
      const full = joinBytes(path, nested ? name.subarray(0, -1) : name)
      const stats = statOf(joinBytes(rootBytes, full))
      // Deleted in the work tree; the index says so.
      if (!stats) continue
      if (stats.isDirectory()) {
        if (existsSync(joinBytes(rootBytes, full, GIT))) pending.push(Buffer.from(full))
        // A submodule that was never filled is an empty folder; without it, git would see a deletion.
        else if (readable && readdirSync(joinBytes(rootBytes, full)).length === 0) writer.add(Buffer.concat([full, Buffer.from("/")]))
        else if (nested) for (const inner of walk(joinBytes(rootBytes, full))) count(listing, writer, rootBytes, joinBytes(full, inner))
        continue
      }
      writer.add(full)
      listing.files++
      if (stats.isFile()) listing.bytes += stats.size
    }
    writer.close()
  }
  return listing
}

function count(listing: Listing, writer: NameWriter, root: Buffer, full: Buffer): void {
  const stats = statOf(joinBytes(root, full))
  if (!stats || stats.isDirectory()) return
  writer.add(full)
  listing.files++
  if (stats.isFile()) listing.bytes += stats.size
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

async function gitNames(git: PipedGit, folder: Buffer, file: string): Promise<Generator<Buffer>> {
  const fd = openSync(file, "wx", 0o600)
  try {
    await git(folder.toString("utf8"), ["ls-files", "-z", "-co", "--exclude-standard", "--deduplicate"], { output: fd })
  } finally {
    closeSync(fd)
  }
  return readNames(file)
}

/** Every file below; a folder with a `.git` of its own is named with a slash and not entered. */
function* walk(folder: Buffer, prefix: Buffer = Buffer.alloc(0)): Generator<Buffer> {
  for (const entry of readdirSync(joinBytes(folder, prefix), { withFileTypes: true, encoding: "buffer" as "utf8" })) {
    const entryName = entry.name as unknown as Buffer
    if (entryName.equals(GIT)) continue
    const name = joinBytes(prefix, entryName)
    if (!entry.isDirectory()) yield name
    else if (existsSync(joinBytes(folder, name, GIT))) yield Buffer.concat([name, Buffer.from("/")])
    else yield* walk(folder, name)
  }
}

export function statOf(path: Buffer): Stats | null {
  try {
    return lstatSync(path)
  } catch {
    return null
  }
}

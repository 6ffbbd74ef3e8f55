import type { BigIntStats, Dirent } from "node:fs"
import { lstat, opendir, readlink, realpath, stat } from "node:fs/promises"
import { type FileEntry, type FolderListing, MAX_FOLDER_ENTRIES } from "../../../lib/contracts/workspace"
import { componentsOf, isGitName, itself, toFailure, withFolder } from "./inside"
import { isUploadDraft } from "./receive-file"

/** More names than this are not even counted. */
const MAX_NAMES = 100_000

type Named = { bytes: Buffer; name: string; addressable: boolean; folder: boolean }

export function listFolder(root: string, path: string): Promise<FolderListing> {
  return withFolder(root, componentsOf(path), async (folder) => {
    const place = itself(folder)
    const names = await readNames(place)
    names.sort((a, b) => Number(b.folder) - Number(a.folder) || compare(a.name, b.name))
    const shown = names.slice(0, MAX_FOLDER_ENTRIES)
    const realRoot = await withFolder(root, [], (top) => readlink(itself(top)))
    const entries = await Promise.all(shown.map((named) => describe(place, named, realRoot)))
    return {
      path,
      entries: entries.filter((entry) => entry !== null),
      total: names.length,
      truncated: names.length > shown.length,
    }
  })
}

const compare = (a: string, b: string) => {
  const [x, y] = [a.toLowerCase(), b.toLowerCase()]
  return x < y ? -1 : x > y ? 1 : a < b ? -1 : 1
}

async function readNames(place: string): Promise<Named[]> {
  const names: Named[] = []
  try {
    const folder = await opendir(place, { encoding: "buffer" as BufferEncoding, bufferSize: 512 })
    for await (const entry of folder as unknown as AsyncIterable<Dirent<Buffer>>) {
      const bytes = entry.name
      const name = bytes.toString("utf8")
      if (isGitName(name) || isUploadDraft(name)) continue
      names.push({ bytes, name, addressable: Buffer.from(name, "utf8").equals(bytes), folder: entry.isDirectory() })
      if (names.length >= MAX_NAMES) break
    }
  } catch (error) {
    throw toFailure(error)
  }
  return names
}

/** Null for what went between the look at the folder and the look at it. */
async function describe(place: string, { bytes, name, addressable }: Named, realRoot: string): Promise<FileEntry | null> {
  const path = Buffer.concat([Buffer.from(`${place}/`), bytes])
  const info = await lstat(path, { bigint: true }).catch(() => null)
  if (!info) return null
  return {
    name,
    kind: info.isFile() ? "file" : info.isDirectory() ? "folder" : info.isSymbolicLink() ? "link" : "other",
    bytes: Number(info.size),
    modified_at: timeOf(info),
    link: info.isSymbolicLink() ? await followLink(path, realRoot) : null,
    addressable,
  }
}

const timeOf = (info: BigIntStats): string => new Date(Number(info.mtimeMs)).toISOString()

/** For the label alone: whoever asks for the target asks by its own path, and that is opened like any other. */
async function followLink(path: Buffer, realRoot: string): Promise<NonNullable<FileEntry["link"]>> {
  const target = await realpath(path).catch(() => null)
  if (target === null) return { leads: "nowhere", path: null, kind: null }
  if (!target.startsWith(`${realRoot}/`) || target.split("/").some(isGitName)) return { leads: "outside", path: null, kind: null }
  const info = await stat(target).catch(() => null)
  const kind = info?.isFile() ? "file" : info?.isDirectory() ? "folder" : null
  return { leads: "inside", path: target.slice(realRoot.length + 1), kind }
}

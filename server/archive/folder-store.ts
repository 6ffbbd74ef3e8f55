import { createHash } from "node:crypto"
import { createReadStream } from "node:fs"
import { mkdir, readdir, rm, stat } from "node:fs/promises"
import { dirname, join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { ArchiveError } from "./archive-error"
import { ARCHIVE_FILE, type ArchiveStore, type StoredArchive } from "./archive-store"

/** Archives as files of a folder that server and daemon share. The daemon writes them; a file with its final name is complete. */
export function createFolderStore(folder: string): ArchiveStore {
  return {
    kind: "folder",
    folder,
    upload: async () => {
      throw new ArchiveError("internal", "A folder takes no uploads.")
    },
    source: async (location) => ({ kind: "folder", path: pathOf(location) }),
    verify: verifyFile,
    remove: async (location) => rm(pathOf(location), { force: true }),
    async list() {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const found = (await readdir(folder)).flatMap((name) => {
        const archive_id = ARCHIVE_FILE.exec(name)?.[1]
        return archive_id ? [{ archive_id, path: join(folder, name) }] : []
      })
      return Promise.all(
        found.map(async ({ archive_id, path }) => {
          const { size, mtime } = await stat(path)
          return { archive_id, location: locationOf(path), bytes: size, created_at: mtime }
        }),
      )
    },
    async sweep(olderThanMs) {
      let removed = 0
      for (const name of await readdir(folder).catch(() => [])) {
        const path = join(folder, name)
        if (!name.endsWith(".partial") || Date.now() - (await stat(path)).mtimeMs < olderThanMs) continue
        await rm(path, { force: true })
        removed++
      }
      return removed
    },
  }
}

export const locationOf = (path: string): string => pathToFileURL(path).href
export const isFileLocation = (location: string): boolean => location.startsWith("file:")

export function pathOf(location: string): string {
  if (!isFileLocation(location)) throw new ArchiveError("store_unreachable", "The archive is kept in a store that is not configured.")
  return fileURLToPath(location)
}

/** Reads the whole file: what is on the disk now is, byte for byte, what was packed. */
export async function verifyFile({ location, sha256, bytes }: StoredArchive): Promise<void> {
  const path = pathOf(location)
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    // A folder that cannot be entered or is not mounted says nothing about the archive.
    if (error.code === "ENOENT") return null
    throw new ArchiveError("store_unreachable", `The archive folder cannot be read: ${error.code}`, { cause: error })
  })
  if (!found) {
    if (await stat(dirname(path)).catch(() => null)) throw new ArchiveError("archive_missing", "The archive's file does not exist.")
    throw new ArchiveError("store_unreachable", "The archive folder does not exist.")
  }
  if (found.size !== bytes) throw new ArchiveError("checksum_mismatch", `The archive has ${found.size} bytes, not ${bytes}.`)
  const hash = createHash("sha256")
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: 1024 * 1024 })) hash.update(chunk as Buffer)
  } catch (cause) {
    throw new ArchiveError("store_unreachable", "The archive's file cannot be read.", { cause })
  }
  if (hash.digest("hex") !== sha256) throw new ArchiveError("checksum_mismatch", "The archive's content is not what was packed.")
}

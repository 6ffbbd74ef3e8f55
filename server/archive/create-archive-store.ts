import type { Config } from "../platform/config"
import type { ArchiveStore } from "./archive-store"
import { createFolderStore, isFileLocation } from "./folder-store"
import { createS3Store } from "./s3-store"

/** The store `ARCHIVE_URL` names. Archives that were made in a folder before stay readable when it is a bucket now. */
export function createArchiveStore(config: Config["archive"]): ArchiveStore {
  if (config.kind === "folder") return createFolderStore(config.folder)
  const s3 = createS3Store(config)
  const files = createFolderStore("/")
  const storeOf = (location: string) => (isFileLocation(location) ? files : s3)
  return {
    ...s3,
    source: (location) => storeOf(location).source(location),
    verify: (archive) => storeOf(archive.location).verify(archive),
    remove: (location) => storeOf(location).remove(location),
  }
}

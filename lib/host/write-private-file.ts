import { closeSync, fsyncSync, openSync, renameSync, writeSync } from "node:fs"
import { dirname } from "node:path"

/** Readers see the old content or the new one, never half; only the owner may read it. */
export function writePrivateFile(path: string, content: string): void {
  const draft = `${path}.${process.pid}.tmp`
  const fd = openSync(draft, "w", 0o600)
  try {
    writeSync(fd, content)
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
  renameSync(draft, path)
  syncFolder(dirname(path))
}

export function syncFile(path: string): void {
  const fd = openSync(path, "r")
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}
/** Names in it that were made or changed are on disk then. */
export const syncFolder = syncFile

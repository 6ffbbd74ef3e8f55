import { chmodSync } from "node:fs"
import Database from "better-sqlite3"

/**
 * An exclusive lock that ends with the process that holds it, however it ends, and is not inherited by its children:
 * SQLite's own file lock. A pid file would outlive a SIGKILL, and flock(2) would be held on by every agent started.
 */
export function lockFolder(file: string, nativeBinding?: string): { release(): void } | null {
  const db = new Database(file, { timeout: 0, ...(nativeBinding ? { nativeBinding } : {}) })
  try {
    chmodSync(file, 0o600)
    db.pragma("journal_mode = DELETE")
    db.pragma("locking_mode = EXCLUSIVE")
    db.exec("BEGIN EXCLUSIVE")
    return { release: () => db.close() }
  } catch (error) {
    db.close()
    if ((error as { code?: string }).code?.startsWith("SQLITE_BUSY")) return null
    throw error
  }
}

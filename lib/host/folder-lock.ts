import { chmodSync, existsSync, statSync, truncateSync } from "node:fs"
import Database from "better-sqlite3"

/**
 * So long an exclusive lock is waited for. `isFolderLocked` holds a shared one for a moment: without the wait, whoever starts in that
 * moment would be told that the folder is taken.
 */
const LOCK_PATIENCE_MS = 500

export type FolderLock = {
  /** False once the file was deleted or replaced: whoever locks the new one does not meet this lock. */
  isInPlace(): boolean
  release(): void
}

/**
 * An exclusive lock that ends with the process that holds it, however it ends, and is not inherited by its children:
 * SQLite's own file lock. A pid file would outlive a SIGKILL, and flock(2) would be held on by every agent started.
 */
export function lockFolder(file: string, nativeBinding?: string): FolderLock | null {
  try {
    return tryToLock(file, nativeBinding)
  } catch (error) {
    // Damaged, and held by nobody, or it would be busy: there is nothing in it to lose.
    if (!isDamaged(error)) throw error
    truncateSync(file)
    return tryToLock(file, nativeBinding)
  }
}

function tryToLock(file: string, nativeBinding: string | undefined): FolderLock | null {
  const db = new Database(file, { timeout: LOCK_PATIENCE_MS, ...(nativeBinding ? { nativeBinding } : {}) })
  try {
    chmodSync(file, 0o600)
    db.pragma("journal_mode = DELETE")
    db.pragma("locking_mode = EXCLUSIVE")
    db.exec("BEGIN EXCLUSIVE")
    const { dev, ino } = statSync(file)
    const isInPlace = () => {
      const now = statSync(file, { throwIfNoEntry: false })
      return now?.ino === ino && now.dev === dev
    }
    return { isInPlace, release: () => db.close() }
  } catch (error) {
    db.close()
    if (isBusy(error)) return null
    throw error
  }
}

/** Whether somebody holds the lock. Throws when it cannot tell: that is not a no. */
export function isFolderLocked(file: string): boolean {
  if (!existsSync(file)) return false
  const db = new Database(file, { readonly: true, fileMustExist: true, timeout: 0 })
  try {
    db.pragma("schema_version")
    return false
  } catch (error) {
    if (isBusy(error)) return true
    if (isDamaged(error)) return false
    throw error
  } finally {
    db.close()
  }
}

const codeOf = (error: unknown): string => (error as { code?: string }).code ?? ""
const isBusy = (error: unknown): boolean => codeOf(error).startsWith("SQLITE_BUSY")
const isDamaged = (error: unknown): boolean => codeOf(error) === "SQLITE_NOTADB"

import { chmodSync, lstatSync, readdirSync, statSync } from "node:fs"
import { join } from "node:path"

const OTHERS = 0o077
/** Nothing but Rewake's own files: all of it is corrected. */
const OWN_FOLDERS = ["run", "sessions", "logs", "staging", "archives"]
/** Closed at the top only: what lies in them belongs to users, agents and git, and keeps its modes. */
const FOLDERS_FOR_OTHERS = ["workspaces", "repositories", "trash", "agents", "bin", "demo-agent"]
const OWN_FILES = ["auth-secret", "journal.json"]

export type Corrected = { corrected: string[]; failed: string[] }

/**
 * Takes from other users of this machine what an earlier version, or a folder that was there before, let them read. A folder that is
 * closed is not searched: nobody gets past it, and a start must not look at every file of every session.
 */
export function makePrivate(dataDir: string, databaseFile: string | null): Corrected {
  const result: Corrected = { corrected: [], failed: [] }
  const close = (path: string, mode: number): boolean => {
    if ((mode & OTHERS) === 0) return false
    try {
      chmodSync(path, mode & 0o7777 & ~OTHERS)
      result.corrected.push(path)
    } catch {
      result.failed.push(path)
    }
    return true
  }
  /** Links are left alone: what they lead to may be anybody's. */
  const visit = (path: string, deep: boolean) => {
    const stats = lstatSync(path, { throwIfNoEntry: false })
    if (!stats || stats.isSymbolicLink()) return
    const wasOpen = close(path, stats.mode)
    if (deep && wasOpen && stats.isDirectory()) for (const name of readdirSync(path)) visit(join(path, name), true)
  }

  close(dataDir, statSync(dataDir).mode)
  for (const name of OWN_FOLDERS) visit(join(dataDir, name), true)
  for (const name of [...FOLDERS_FOR_OTHERS, ...OWN_FILES]) visit(join(dataDir, name), false)
  if (databaseFile) for (const suffix of ["", "-wal", "-shm", "-journal"]) visit(`${databaseFile}${suffix}`, false)
  return result
}

import { isMainThread } from "node:worker_threads"

const OWNER_ONLY = 0o077

/** Null: this program keeps the umask it was started with. */
let ofUsers: number | null = null

/**
 * From now on only the owner can read what this program writes. What it makes or starts for users keeps the given umask, else the
 * one this program was started with: a repository that others of the group work in must not close itself to them.
 */
export function keepOwnFilesPrivate(given?: number): number {
  const inherited = process.umask(OWNER_ONLY)
  ofUsers = given ?? inherited
  return ofUsers
}

/**
 * Starts a process, or makes files, with the umask of users. `make` must be synchronous: Node forks inside spawn(), and nothing
 * else of this thread runs before the umask is back. A worker thread cannot set it, and makes nothing for users this way.
 */
export function withUmaskOfUsers<T>(make: () => T): T {
  if (ofUsers === null || !isMainThread) return make()
  process.umask(ofUsers)
  try {
    return make()
  } finally {
    process.umask(OWNER_ONLY)
  }
}

/** For what is made by asynchronous calls or in another thread, and so gets its mode afterwards by chmod. */
export const modeForUsers = (mode: number): number => mode & ~(ofUsers ?? 0)

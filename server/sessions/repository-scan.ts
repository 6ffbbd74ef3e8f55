import { access, readdir } from "node:fs/promises"
import { basename, join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"

export type FoundRepository = { path: string; name: string }

/** A home folder can be endless: what lies beyond these is not suggested, and can still be typed. */
export const SCAN_LIMITS = { depth: 3, folders: 20_000, repositories: 2000, ms: 2000 }
const SKIPPED = new Set(["node_modules", "target", "dist", "vendor"])
const KEPT_MS = 30_000
const SUGGESTIONS = 50

/** Repositories near the roots for the form's suggestions. However many ask, one scan runs at a time, and its result serves them all. */
export function createRepositoryScan(
  roots: readonly string[],
  { scan = scanRoots, now = () => performance.now() }: { scan?: typeof scanRoots; now?: () => number } = {},
) {
  let found: FoundRepository[] = []
  let scannedAt = Number.NEGATIVE_INFINITY
  let scanning: Promise<void> | null = null

  async function begin(): Promise<void> {
    try {
      found = await scan(roots)
    } finally {
      scannedAt = now()
      scanning = null
    }
  }

  return async (query: string): Promise<FoundRepository[]> => {
    if (scanning === null && now() - scannedAt >= KEPT_MS) scanning = begin()
    // A disk that does not answer holds up its scan for ever: it must neither hold up the form nor have a second scan beside it.
    if (scanning) await Promise.race([scanning, delay(2 * SCAN_LIMITS.ms, undefined, { ref: false })])
    const wanted = query.toLowerCase()
    return found.filter(({ path }) => path.toLowerCase().includes(wanted)).slice(0, SUGGESTIONS)
  }
}

/** Level by level, so that the nearest are found before a limit is reached. */
export async function scanRoots(roots: readonly string[], limits = SCAN_LIMITS): Promise<FoundRepository[]> {
  const deadline = performance.now() + limits.ms
  const found: FoundRepository[] = []
  let visited = 0
  let level = [...roots]
  for (let depth = limits.depth; level.length > 0; depth--) {
    const next: string[] = []
    for (const folder of level) {
      if (++visited > limits.folders || found.length >= limits.repositories || performance.now() > deadline) return found
      if (await isThere(join(folder, ".git"))) found.push({ path: folder, name: basename(folder) })
      else if (depth > 0) next.push(...(await foldersIn(folder)))
    }
    level = next
  }
  return found
}

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )

async function foldersIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  return entries
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith(".") && !SKIPPED.has(entry.name))
    .map((entry) => join(folder, entry.name))
    .sort()
}

import { type FSWatcher, watch } from "node:fs"
import { readdir } from "node:fs/promises"
import { join } from "node:path"

/** One folder, one watch of the kernel's; a tree with more is asked about from time to time instead. */
const MAX_FOLDERS = 8000
const LEFT_OUT = new Set([".git", "node_modules"])

export type TreeWatch = { close(): void }

/**
 * Tells that something below a folder changed, by a watch on each folder of it. Links are not followed. No native module: one
 * that fails would take the daemon down, and every agent with it. Null when the tree is too large or the kernel has no more watches.
 */
export async function watchTree(root: string, changed: () => void, failed: () => void): Promise<TreeWatch | null> {
  const watchers = new Map<string, FSWatcher>()
  let closed = false
  const close = () => {
    closed = true
    for (const watcher of watchers.values()) watcher.close()
    watchers.clear()
  }
  const giveUp = () => {
    if (closed) return
    close()
    failed()
  }

  /** False when there is no room for it. */
  async function add(folder: string): Promise<boolean> {
    if (closed || watchers.has(folder)) return true
    if (watchers.size >= MAX_FOLDERS) return false
    try {
      const watcher = watch(folder, { persistent: false }, (kind, name) => {
        if (name !== null && LEFT_OUT.has(name)) return
        changed()
        // A new name may be a new folder; what was put into it before it was watched is found by looking.
        if (kind === "rename" && name !== null) void look(join(folder, name))
      })
      watcher.on("error", () => drop(folder))
      watchers.set(folder, watcher)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      return code !== "ENOSPC" && code !== "EMFILE"
    }
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
    for (const entry of entries) {
      if (entry.isDirectory() && !LEFT_OUT.has(entry.name) && !(await add(join(folder, entry.name)))) return false
    }
    return true
  }
  function drop(folder: string) {
    for (const [path, watcher] of watchers) {
      if (path !== folder && !path.startsWith(`${folder}/`)) continue
      watcher.close()
      watchers.delete(path)
    }
  }
  async function look(path: string) {
    // Its watch, if it has one, is of a folder that was moved or removed.
    drop(path)
    const entries = await readdir(path).catch(() => null)
    if (entries === null || closed) return
    if (!(await add(path))) giveUp()
    else if (entries.length > 0) changed()
  }

  if (await add(root)) return { close }
  close()
  return null
}

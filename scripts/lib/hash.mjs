import { createHash } from "node:crypto"
import { readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { root } from "./project.mjs"

/** One hash over the names and contents of files and folders of the project; absent ones count as absent. */
export function hashFiles(paths, extra = []) {
  const hash = createHash("sha256")
  for (const text of extra) hash.update(`${text}\0`)
  for (const path of paths) addPath(hash, path)
  return hash.digest("hex")
}

function addPath(hash, path) {
  const stats = statSync(join(root, path), { throwIfNoEntry: false })
  if (stats === undefined) return
  if (!stats.isDirectory()) {
    hash.update(`${path}\0${stats.size}\0`).update(readFileSync(join(root, path)))
    return
  }
  for (const name of readdirSync(join(root, path)).sort()) addPath(hash, `${path}/${name}`)
}

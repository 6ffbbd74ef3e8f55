import { accessSync, constants } from "node:fs"
import { delimiter, join } from "node:path"

/** The first of these programs that is on PATH, or null. */
export function findProgram(...names) {
  for (const name of names) {
    for (const folder of (process.env.PATH ?? "").split(delimiter)) {
      const file = join(folder, name)
      try {
        accessSync(file, constants.X_OK)
        return file
      } catch {}
    }
  }
  return null
}

import { accessSync, constants } from "node:fs"
import { delimiter, isAbsolute, join } from "node:path"

/** Where a program lies, by its own path or along PATH. Null: not on this machine. */
export function findProgram(program: string, path: string): string | null {
  const folders = path.split(delimiter).filter(Boolean)
  const candidates = isAbsolute(program) ? [program] : folders.map((folder) => join(folder, program))
  return candidates.find(isExecutable) ?? null
}

export function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

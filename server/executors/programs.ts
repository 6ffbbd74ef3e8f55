import { cpSync, existsSync, mkdirSync, renameSync, rmSync } from "node:fs"
import { join } from "node:path"

/**
 * Copies this build's agentctl and demo agents into the data folder, once per build. A running daemon loads code lazily:
 * started from the build folder, the next install would pull files from under it.
 */
export function installPrograms(options: { from: string; data_dir: string; build: string }): string {
  const target = join(options.data_dir, "bin", options.build)
  if (existsSync(target)) return target
  const draft = `${target}.${process.pid}.tmp`
  mkdirSync(join(options.data_dir, "bin"), { recursive: true, mode: 0o700 })
  rmSync(draft, { recursive: true, force: true })
  cpSync(options.from, draft, { recursive: true })
  try {
    renameSync(draft, target)
  } catch (error) {
    rmSync(draft, { recursive: true, force: true })
    if (!existsSync(target)) throw error
  }
  return target
}

import { chmod, copyFile, mkdir, readdir, readFile, rm, stat } from "node:fs/promises"
import { basename, join } from "node:path"
import type { AgentFile } from "../../../lib/contracts/agentctl/archive"
import { messageOf } from "../failure"
import { examineTranscript } from "./examine"

/** How many copies of one file a session keeps; a load that destroyed one is noticed at once, older ones are for a person. */
const KEPT_COPIES = 3
/** A conversation larger than this is not copied: loading must not wait for it. */
const MAX_COPIED_BYTES = 64 * 1024 * 1024
/** And one larger than this not read through: it happens in one go, while every other session of this daemon waits. */
const MAX_EXAMINED_BYTES = 4 * 1024 * 1024

type Guarded = { path: string; copy: string; bytes: number }
export type LoadGuard = {
  /** What was found before the load, in words for a person. */
  findings: string[]
  /** After the agent has ended: files that the load removed or emptied are put back. Gives what was done, in words. */
  undo(): Promise<string[]>
  destroyed(): Promise<boolean>
}

/** Looks at an agent's own session files before it loads them, and keeps copies, so that a load that destroys them can be undone. */
export async function guardLoad(files: readonly AgentFile[], folder: string, now: number): Promise<LoadGuard> {
  const findings: string[] = []
  const guarded: Guarded[] = []
  for (const file of files) {
    const paths = await transcriptsOf(file)
    if (paths.length === 0) findings.push(`${file.as} is not there`)
    for (const path of paths) {
      try {
        const { size } = await stat(path)
        if (size > MAX_COPIED_BYTES) continue
        const found = size <= MAX_EXAMINED_BYTES ? examineTranscript(await readFile(path)) : []
        findings.push(...found.map((finding) => `${basename(path)}: ${finding}`))
        guarded.push({ path, copy: await keepCopy(path, folder, now), bytes: size })
      } catch (error) {
        findings.push(`${basename(path)} could not be read: ${messageOf(error)}`)
      }
    }
  }
  const lost = async () => {
    const sizes = await Promise.all(guarded.map(({ path }) => sizeOf(path)))
    return guarded.filter(({ bytes }, at) => wasDestroyed(bytes, sizes[at] ?? 0))
  }
  return {
    findings,
    destroyed: async () => (await lost()).length > 0,
    async undo() {
      const damaged = await lost()
      for (const { path, copy } of damaged) await copyFile(copy, path)
      return damaged.map(({ path }) => `${basename(path)} was destroyed by the load and has been put back as it was`)
    },
  }
}

/** Agents append; a file that lost most of itself was written anew. */
export const wasDestroyed = (before: number, after: number): boolean => before > 0 && after < before / 2

async function transcriptsOf({ path, ending }: AgentFile): Promise<string[]> {
  if (ending === undefined) return (await exists(path)) ? [path] : []
  const names = await readdir(path, { recursive: true }).catch(() => [])
  return names.filter((name) => name.endsWith(ending)).map((name) => join(path, name))
}

async function keepCopy(path: string, folder: string, now: number): Promise<string> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const copy = join(folder, `${basename(path)}.${String(now).padStart(15, "0")}`)
  await copyFile(path, copy)
  await chmod(copy, 0o600)
  const older = (await readdir(folder)).filter((name) => name.startsWith(`${basename(path)}.`)).sort()
  for (const name of older.slice(0, -KEPT_COPIES)) await rm(join(folder, name), { force: true })
  return copy
}

const sizeOf = async (path: string): Promise<number> => (await stat(path).catch(() => null))?.size ?? 0
const exists = async (path: string): Promise<boolean> => (await stat(path).catch(() => null)) !== null

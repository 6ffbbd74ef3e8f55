import {
  closeSync,
  constants,
  copyFileSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from "node:fs"
import { dirname, join } from "node:path"
import type { AgentFile } from "../../../lib/contracts/agentctl/archive"

/** Whatever an agent profile lists, these never leave the host. */
const CREDENTIALS =
  /^(\.credentials\.json|credentials(\.json)?|auth\.json|oauth_creds\.json|google_accounts\.json|hosts\.(json|yml)|.*\.(pem|key))$/i

export interface AgentFiles {
  files: { path: string; as: string }[]
  bytes: number
  credentials: string[]
}

/** The agent's own session files that exist; a folder stands for everything in it. Links are not followed. */
export function listAgentFiles(declared: AgentFile[]): AgentFiles {
  const found: AgentFiles = { files: [], bytes: 0, credentials: [] }
  const visit = (path: string, as: string, name: string, ending = "") => {
    const stats = lstatSync(path, { throwIfNoEntry: false })
    if (stats?.isDirectory()) for (const inner of readdirSync(path)) visit(join(path, inner), `${as}/${inner}`, inner, ending)
    else if (!name.endsWith(ending)) return
    else if (stats?.isFile() && CREDENTIALS.test(name)) found.credentials.push(`agent/${as}`)
    else if (stats?.isFile()) {
      found.files.push({ path, as })
      found.bytes += stats.size
    }
  }
  for (const { path, as, ending } of declared) visit(path, as, path.slice(path.lastIndexOf("/") + 1), ending)
  return found
}

/**
 * Puts the unpacked files where the agent looks for them. One that is there and not older is kept: the agent may have gone on
 * with it on this host since. What the archive holds beyond the declared files is left where it is.
 */
export function placeAgentFiles(unpacked: string, declared: AgentFile[]): void {
  const place = (from: string, to: string) => {
    const stats = lstatSync(from, { throwIfNoEntry: false })
    if (stats?.isDirectory()) for (const inner of readdirSync(from)) place(join(from, inner), join(to, inner))
    if (!stats?.isFile()) return
    const there = statSync(to, { throwIfNoEntry: false })
    if (there && there.mtimeMs >= stats.mtimeMs - 1) return
    mkdirSync(dirname(to), { recursive: true, mode: 0o700 })
    const draft = `${to}.restoring`
    rmSync(draft, { force: true })
    copyFileSync(from, draft, constants.COPYFILE_EXCL)
    utimesSync(draft, stats.mtimeMs / 1000, stats.mtimeMs / 1000)
    const fd = openSync(draft, "r")
    fsyncSync(fd)
    closeSync(fd)
    renameSync(draft, to)
  }
  for (const { path, as } of declared) place(join(unpacked, as), path)
}

import { randomUUID } from "node:crypto"
import { mkdirSync } from "node:fs"
import { lstat, open, readFile, realpath, rename, rm, stat } from "node:fs/promises"
import { basename, dirname, isAbsolute, join, resolve, sep } from "node:path"
import { RequestError } from "@agentclientprotocol/sdk"
import { modeForUsers, withUmaskOfUsers } from "../../../lib/host/umask"

const MAX_READ_BYTES = 16 * 1024 * 1024

/** Reads for the agent, only inside these folders, the first being its workspace; `line` counts from 1. */
export async function readTextFile(
  [workspace, ...others]: readonly [string, ...string[]],
  request: { path: string; line?: number | null; limit?: number | null },
): Promise<string> {
  const path = await insideWorkspace(workspace, request.path).catch(async (refusal) => {
    for (const other of others) {
      const found = isAbsolute(request.path) ? await insideWorkspace(other, request.path).catch(() => null) : null
      if (found !== null) return found
    }
    throw refusal
  })
  const info = await stat(path).catch(() => null)
  if (!info) throw RequestError.resourceNotFound(request.path)
  if (!info.isFile()) throw RequestError.invalidParams({ path: request.path }, "not a file")
  if (info.size > MAX_READ_BYTES) throw RequestError.invalidParams({ path: request.path }, `larger than ${MAX_READ_BYTES} bytes`)
  const text = await readFile(path, "utf8")
  if (request.line == null && request.limit == null) return text
  const from = Math.max((request.line ?? 1) - 1, 0)
  return text
    .split("\n")
    .slice(from, request.limit == null ? undefined : from + request.limit)
    .join("\n")
}

/** Writes for the agent, only inside the workspace; a reader sees the old file or the new one. */
export async function writeTextFile(workspace: string, request: { path: string; content: string }): Promise<void> {
  const path = await insideWorkspace(workspace, request.path)
  const existing = await stat(path).catch(() => null)
  if (existing && !existing.isFile()) throw RequestError.invalidParams({ path: request.path }, "not a file")
  withUmaskOfUsers(() => mkdirSync(dirname(path), { recursive: true }))
  const draft = join(dirname(path), `.${basename(path)}.${randomUUID()}.tmp`)
  try {
    const mode = existing ? existing.mode & 0o777 : 0o666
    const file = await open(draft, "wx", mode)
    try {
      await file.chmod(modeForUsers(mode))
      await file.writeFile(request.content)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(draft, path)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}

/** The real path, or a refusal when it, or a link on the way to it, leads out of the workspace. */
export async function insideWorkspace(workspace: string, path: string): Promise<string> {
  if (path.includes("\0")) throw RequestError.invalidParams({ path }, "not a path")
  const root = await realpath(workspace)
  const wanted = isAbsolute(path) ? resolve(path) : resolve(root, path)
  const real = await realExisting(wanted)
  if (real === null || (real !== root && !real.startsWith(root + sep))) {
    throw RequestError.invalidParams({ path }, "outside the workspace")
  }
  return real
}

/** Links resolved as far as the path exists; null for a link that leads nowhere, since writing through it could lead anywhere. */
async function realExisting(path: string): Promise<string | null> {
  const real = await realpath(path).catch(() => null)
  if (real !== null) return real
  if (await lstat(path).catch(() => null)) return null
  if (dirname(path) === path) return null
  const parent = await realExisting(dirname(path))
  return parent === null ? null : join(parent, basename(path))
}

import { randomUUID } from "node:crypto"
import { constants } from "node:fs"
import { type FileHandle, link, open, rename, rm } from "node:fs/promises"
import type { IncomingMessage } from "node:http"
import { type FileWritten, MAX_UPLOAD_BYTES } from "../../../lib/contracts/workspace"
import { modeForUsers } from "../../../lib/host/umask"
import { Failure } from "../failure"
import { below, componentsOf, etagOf, openNamed, refused, requireRegular, toFailure, withFolder } from "./inside"

/** Beside its target, so that the rename stays on one disk. Never listed: it is nobody's file yet. */
const DRAFT_PREFIX = ".rewake-upload-"
export const isUploadDraft = (name: string): boolean => name.startsWith(DRAFT_PREFIX)

export type Conditions = {
  /** Only over the file of this etag: what the agent wrote since is not overwritten. */
  ifMatch: string | undefined
  /** Only where nothing is yet. */
  ifNoneMatch: boolean
}

/** A reader sees the old file or the new one, never half of it; an upload that breaks off leaves the old one. */
export async function receiveFile(root: string, path: string, conditions: Conditions, body: IncomingMessage): Promise<FileWritten> {
  const components = componentsOf(path)
  const name = components.pop()
  if (name === undefined) throw refused("folder")
  if (isUploadDraft(name)) throw refused("name")
  if (Number(body.headers["content-length"] ?? 0) > MAX_UPLOAD_BYTES) throw tooLarge()
  return withFolder(root, components, async (folder) => {
    const before = await currentState(folder, name)
    requireConditions(before, conditions)
    const draft = below(folder, `${DRAFT_PREFIX}${randomUUID()}`)
    try {
      const bytes = await writeDraft(draft, before?.mode ?? 0o644, body)
      const now = await currentState(folder, name)
      requireConditions(now, conditions)
      // A link refuses to take the place of a file that came meanwhile; a rename would not.
      if (conditions.ifNoneMatch) await link(draft, below(folder, name)).catch(existsNow)
      else await rename(draft, below(folder, name))
      const written = await currentState(folder, name)
      return { path, bytes, etag: written?.etag ?? "", created: now === null }
    } catch (error) {
      throw toFailure(error)
    } finally {
      await rm(draft, { force: true })
    }
  })
}

type State = { etag: string; mode: number }

async function currentState(folder: FileHandle, name: string): Promise<State | null> {
  const named = await openNamed(folder, name).catch((error) => {
    if (error instanceof Failure && error.code === "PATH_MISSING") return null
    throw error
  })
  if (!named) return null
  try {
    const info = await named.stat({ bigint: true })
    requireRegular(info)
    return { etag: etagOf(info), mode: Number(info.mode) & 0o777 }
  } finally {
    await named.close()
  }
}

function requireConditions(now: State | null, { ifMatch, ifNoneMatch }: Conditions): void {
  if (ifNoneMatch && now) throw new Failure("FILE_EXISTS", "There is such a file already.", { etag: now.etag })
  if (ifMatch !== undefined && now?.etag !== ifMatch)
    throw new Failure("FILE_CHANGED", "The file has changed since; it was left as it is.", { etag: now?.etag ?? null })
}

function existsNow(error: NodeJS.ErrnoException): never {
  throw error.code === "EEXIST" ? new Failure("FILE_EXISTS", "There is such a file already.", {}) : error
}

async function writeDraft(draft: string, mode: number, body: IncomingMessage): Promise<number> {
  const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants
  const file = await open(draft, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, mode)
  let bytes = 0
  try {
    await file.chmod(modeForUsers(mode))
    // Left open on the way out: a destroyed connection could not carry the refusal.
    for await (const chunk of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes > MAX_UPLOAD_BYTES) throw tooLarge()
      await file.writeFile(chunk)
    }
    if (!body.complete) throw brokeOff()
    await file.sync()
  } catch (error) {
    throw body.errored ? brokeOff() : error
  } finally {
    body.resume()
    await file.close()
  }
  return bytes
}

const brokeOff = () => new Failure("INVALID_INPUT", "The upload broke off; nothing was changed.")
const tooLarge = () =>
  new Failure("FILE_TOO_LARGE", `A file of at most ${MAX_UPLOAD_BYTES / 1024 / 1024} MB can be uploaded.`, {
    limit_bytes: MAX_UPLOAD_BYTES,
  })

import { type BigIntStats, constants } from "node:fs"
import { type FileHandle, open } from "node:fs/promises"
import { Failure } from "../failure"

/**
 * Paths into a workspace, opened one component at a time below a handle of the folder before it. A check of the whole path and
 * an open of it afterwards would be two looks at a tree that the agent changes in between; here no link is ever followed.
 */

/** Names a file without opening it: a FIFO does not block, a device does not notice. */
const O_PATH = 0x200000
const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants

export type Refusal = "outside" | "link" | "git" | "special" | "folder" | "not_a_folder" | "name" | "permission"

const sentences: Record<Refusal, string> = {
  outside: "This path leads out of the workspace.",
  link: "A link is part of this path; links are not followed.",
  git: "Git's own files are not shown here.",
  special: "This is a device, a socket or a pipe, not a file.",
  folder: "This is a folder.",
  not_a_folder: "This is not a folder.",
  name: "This is no name for a file.",
  permission: "The system does not allow this.",
}
export const refused = (reason: Refusal): Failure => new Failure("PATH_REFUSED", sentences[reason], { reason })

export const isGitName = (name: string): boolean => name.toLowerCase() === ".git"

/** The components of a path from the workspace's root; nothing for the root itself. */
export function componentsOf(path: string): string[] {
  if (path === "") return []
  if (path.startsWith("/")) throw refused("outside")
  const components = path.split("/")
  for (const name of components) {
    if (name === "..") throw refused("outside")
    if (name === "" || name === "." || name.includes("\0")) throw refused("name")
    if (isGitName(name)) throw refused("git")
  }
  return components
}

/** What is at that name below the open folder, whatever is done to the path meanwhile. */
export const below = (folder: FileHandle, name: string): string => `/proc/self/fd/${folder.fd}/${name}`
export const itself = (handle: FileHandle): string => `/proc/self/fd/${handle.fd}`

export async function withFolder<T>(root: string, components: readonly string[], use: (folder: FileHandle) => Promise<T>): Promise<T> {
  let folder = await open(root, O_PATH | O_DIRECTORY | O_NOFOLLOW).catch(() => {
    throw new Failure("WORKSPACE_MISSING", "The session's workspace does not exist.")
  })
  try {
    for (const name of components) {
      const next = await openNamed(folder, name)
      await folder.close()
      folder = next
      const info = await next.stat()
      if (info.isSymbolicLink()) throw refused("link")
      if (!info.isDirectory()) throw refused("not_a_folder")
    }
    return await use(folder)
  } finally {
    await folder.close()
  }
}

/** A handle of whatever has that name, a link among it, that can be asked but not read. */
export const openNamed = (folder: FileHandle, name: string): Promise<FileHandle> =>
  open(below(folder, name), O_PATH | O_NOFOLLOW).catch((error) => {
    throw toFailure(error)
  })

export async function openFile(root: string, path: string): Promise<{ file: FileHandle; info: BigIntStats }> {
  const components = componentsOf(path)
  const name = components.pop()
  if (name === undefined) throw refused("folder")
  return withFolder(root, components, async (folder) => {
    const named = await openNamed(folder, name)
    try {
      requireRegular(await named.stat({ bigint: true }))
      // The very file that was looked at: what its name means by now does not matter.
      const file = await open(itself(named), O_RDONLY | O_NONBLOCK).catch((error) => {
        throw toFailure(error)
      })
      return { file, info: await file.stat({ bigint: true }) }
    } finally {
      await named.close()
    }
  })
}

export function requireRegular(info: BigIntStats): void {
  if (info.isFile()) return
  throw refused(info.isSymbolicLink() ? "link" : info.isDirectory() ? "folder" : "special")
}

/** Another one after every write, rename and replacement. */
export const etagOf = (info: BigIntStats): string =>
  `"${info.ino.toString(36)}-${info.size.toString(36)}-${info.mtimeNs.toString(36)}-${info.ctimeNs.toString(36)}"`

export function toFailure(error: unknown): unknown {
  switch ((error as NodeJS.ErrnoException).code) {
    case "ENOENT":
      return new Failure("PATH_MISSING", "There is no such file.")
    case "ENOTDIR":
      return refused("not_a_folder")
    case "ELOOP":
      return refused("link")
    case "ENAMETOOLONG":
    case "EILSEQ":
    case "EINVAL":
      return refused("name")
    case "EACCES":
    case "EPERM":
    case "EROFS":
      return refused("permission")
    case "ENOSPC":
    case "EDQUOT":
      return new Failure("DISK_FULL", "The disk is full.")
    default:
      return error
  }
}

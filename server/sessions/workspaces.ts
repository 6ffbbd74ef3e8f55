import { existsSync, realpathSync, statSync } from "node:fs"
import { isAbsolute, join, sep } from "node:path"
import { AppError, isAppError } from "../../lib/contracts/errors"
import { holdsCredentials } from "../../lib/host/git-url"

/** No part begins with a dash: git and ssh would read it as an option. */
const REMOTE = /^((https?|ssh|git):\/\/(?!-)|file:\/\/|\w[\w.-]*@\w[\w.-]*:)/

/** A repository an agent may work on: a git URL as it is, or a local one under the allowed roots, by its real path. */
export function requireRepository(repository: string, roots: readonly string[]): string {
  if (holdsCredentials(repository)) {
    throw new AppError("INVALID_INPUT", "Remove the user name and password from the URL, and save them under Settings, Git credentials.", {
      issues: ["repository: holds a user name or password"],
    })
  }
  if (REMOTE.test(repository)) {
    // A local file address would walk around the allowed roots.
    if (repository.startsWith("file:")) return requireRepository(pathOf(repository), roots)
    return repository
  }
  const notFound = (why: string) => new AppError("WORKSPACE_NOT_FOUND", why, { path: repository })
  if (!isAbsolute(repository)) throw notFound("Name the repository by its full path, or give a git URL.")
  const real = resolveReal(repository)
  // The roots are checked first: outside them, even whether a folder exists is nobody's business.
  if (!roots.some((root) => isInside(real ?? repository, resolveReal(root) ?? root))) {
    throw new AppError("WORKSPACE_NOT_ALLOWED", "This folder is outside the folders agents may work in.", { path: repository })
  }
  if (!real || !statSync(real).isDirectory()) throw notFound("There is no such folder.")
  if (!isRepository(real)) throw notFound("This folder is not a git repository.")
  return real
}

function pathOf(fileUrl: string): string {
  try {
    return decodeURIComponent(new URL(fileUrl).pathname)
  } catch {
    throw new AppError("WORKSPACE_NOT_FOUND", "This is not a file URL.", { path: fileUrl })
  }
}

/**
 * The repository an imported session may go on with: a local one under the allowed roots, else null. A URL comes from whoever made
 * the file, and is not cloned on their word.
 */
export function usableRepository(repository: string, roots: readonly string[]): string | null {
  if (!isAbsolute(repository)) return null
  try {
    return requireRepository(repository, roots)
  } catch (error) {
    if (isAppError(error)) return null
    throw error
  }
}

const isRepository = (folder: string) =>
  existsSync(join(folder, ".git")) || (existsSync(join(folder, "HEAD")) && existsSync(join(folder, "objects")))
const isInside = (path: string, root: string) => path === root || path.startsWith(root.endsWith(sep) ? root : root + sep)
function resolveReal(path: string): string | null {
  try {
    return realpathSync(path)
  } catch {
    return null
  }
}

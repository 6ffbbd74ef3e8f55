import { randomUUID } from "node:crypto"
import { existsSync, mkdirSync } from "node:fs"
import { mkdir, readdir, readFile, realpath, rename, rm } from "node:fs/promises"
import { basename, dirname, isAbsolute, join, resolve, sep } from "node:path"
import type { GitCredential, WorkspaceSpec } from "../../lib/contracts/agentctl/protocol"
import { holdsCredentials } from "../../lib/host/git-url"
import { withUmaskOfUsers } from "../../lib/host/umask"
import { Failure, messageOf } from "./failure"
import type { Git } from "./git"
import { type AnswerToGit, answerToGit } from "./git-credential"
import { GitFailure } from "./git-failure"
import { createKeyedSerial } from "./serial"

type Worktree = Extract<WorkspaceSpec, { kind: "worktree" }>

/** What lies in the trash this long is deleted. */
const TRASH_KEPT_MS = 24 * 60 * 60 * 1000

export interface Workspaces {
  /** Makes what is missing, keeps what is there. */
  make(spec: WorkspaceSpec, credential?: GitCredential): Promise<void>
  /** Into the trash, and only what Rewake made itself; a folder elsewhere is left alone. */
  discard(spec: WorkspaceSpec, sessionId: string): Promise<boolean>
  emptyOldTrash(): Promise<void>
  /** The repository of a worktree: there, or cloned again from its URL. */
  prepareRepository(spec: Worktree, credential?: GitCredential): Promise<void>
  /** After a restore was cut short: what the repository knows of worktrees below the draft, or at a place that was never filled. */
  forgetCutShort(spec: Worktree, draft: string): Promise<void>
  /** No other worktree of that repository is made or removed meanwhile. */
  exclusively<T>(spec: Worktree, job: () => Promise<T>): Promise<T>
}

export function createWorkspaces(dataDir: string, git: Git): Workspaces {
  // Two worktrees added to one repository at once fail on its locks.
  const perRepository = createKeyedSerial()
  const trash = join(dataDir, "trash")
  return {
    async make(spec, credential) {
      if (!isAbsolute(spec.path)) throw new Failure("INVALID_INPUT", "A workspace path is absolute.")
      try {
        if (spec.kind === "folder") await perRepository(spec.path, () => makeFolder(git, spec.path))
        else await perRepository(repositoryOf(spec), () => makeWorktree(git, spec, signInFor(spec, credential)))
      } catch (error) {
        if (error instanceof Failure) throw error
        throw new Failure("WORKSPACE_FAILED", messageOf(error))
      }
    },

    async discard(spec, sessionId) {
      if (!(await liesUnder(spec.path, join(dataDir, "workspaces")))) return false
      await mkdir(trash, { recursive: true, mode: 0o700 })
      await rename(spec.path, join(trash, `${sessionId}-${Date.now()}-${basename(spec.path)}`))
      if (spec.kind === "worktree") {
        const repository = repositoryOf(spec)
        await perRepository(repository, () => forgetWorktrees(git, repository, (path) => path === spec.path)).catch(() => undefined)
      }
      return true
    },

    prepareRepository: (spec, credential) =>
      perRepository(repositoryOf(spec), () => prepareRepository(git, spec, signInFor(spec, credential))),
    async forgetCutShort(spec, draft) {
      const repository = repositoryOf(spec)
      if (!existsSync(repository)) return
      const isGone = (path: string) => path.startsWith(`${draft}/`) || (path === spec.path && !existsSync(join(path, ".git")))
      await perRepository(repository, () => forgetWorktrees(git, repository, isGone))
    },
    exclusively: (spec, job) => perRepository(repositoryOf(spec), job),

    async emptyOldTrash() {
      for (const name of await readdir(trash).catch(() => [])) {
        const discardedAt = Number(/-(\d{13})-/.exec(name)?.[1] ?? Number.NaN)
        if (Date.now() - discardedAt > TRASH_KEPT_MS) await rm(join(trash, name), { recursive: true, force: true }).catch(() => undefined)
      }
    },
  }
}

const makeFolderForUsers = (path: string) => withUmaskOfUsers(() => mkdirSync(path, { recursive: true }))

async function makeFolder(git: Git, path: string): Promise<void> {
  makeFolderForUsers(path)
  if (!existsSync(join(path, ".git"))) await git.run(path, ["init", "-q", "-b", "main"])
  // Without a first commit there is nothing to compare the work with.
  if (!(await git.succeeds(path, ["rev-parse", "-q", "--verify", "HEAD"]))) {
    await git.run(path, ["commit", "-q", "--allow-empty", "--no-verify", "-m", "Start of the workspace"])
  }
}

async function makeWorktree(git: Git, spec: Worktree, signIn: AnswerToGit | null): Promise<void> {
  // Kept as it is, also while its repository's disk is not mounted.
  if (existsSync(join(spec.path, ".git"))) return
  const repository = repositoryOf(spec)
  await prepareRepository(git, spec, signIn)
  if (existsSync(spec.path) && (await readdir(spec.path)).length > 0) {
    throw new Failure("WORKSPACE_FAILED", "The workspace path exists and is no worktree; it was left as it is.")
  }
  makeFolderForUsers(dirname(spec.path))
  // git still lists a worktree whose folder is gone, and would refuse its place and its branch.
  await forgetWorktrees(git, repository, (path) => path === spec.path)
  if (await git.succeeds(repository, ["rev-parse", "-q", "--verify", `refs/heads/${spec.branch}`])) {
    await git.run(repository, ["worktree", "add", "-q", spec.path, spec.branch])
    return
  }
  const fresh = spec.mirror !== null && (await git.succeeds(repository, ["fetch", "-q", "origin", "HEAD"], signIn))
  await git.run(repository, ["worktree", "add", "-q", "--no-track", "-b", spec.branch, spec.path, fresh ? "FETCH_HEAD" : "HEAD"])
}

const repositoryOf = (spec: Worktree): string => spec.mirror ?? spec.repository

const signInFor = (spec: Worktree, credential: GitCredential | undefined): AnswerToGit | null =>
  credential ? answerToGit(spec.repository, credential) : null

async function prepareRepository(git: Git, spec: Worktree, signIn: AnswerToGit | null): Promise<void> {
  const repository = repositoryOf(spec)
  if (spec.mirror && !existsSync(join(spec.mirror, "HEAD"))) await cloneMirror(git, spec.repository, spec.mirror, signIn)
  if (!isAbsolute(repository) || !existsSync(repository)) throw new Failure("WORKSPACE_FAILED", "The repository does not exist.")
}

/** What git says when a server wants to know who asks, or does not like the answer. */
const SIGN_IN_FAILED = /could not read (Username|Password) for|Authentication failed for/

async function cloneMirror(git: Git, url: string, mirror: string, signIn: AnswerToGit | null): Promise<void> {
  if (url.startsWith("-") || holdsCredentials(url)) throw new Failure("INVALID_INPUT", "That is no repository.")
  await mkdir(dirname(mirror), { recursive: true, mode: 0o700 })
  const draft = `${mirror}.cloning-${randomUUID()}`
  try {
    await git.run(dirname(mirror), ["clone", "-q", "--bare", "--", url, draft], signIn)
    await rename(draft, mirror)
  } catch (error) {
    if (!(error instanceof GitFailure && SIGN_IN_FAILED.test(error.said)) || !URL.canParse(url)) throw error
    const { host } = new URL(url)
    const what = signIn
      ? `${host} refused the saved user name and password. Save new ones`
      : `${host} asks for a user name and password. Save them`
    throw new Failure("WORKSPACE_FAILED", `${what} under Settings, Git credentials, then retry.`)
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}

/**
 * Removes what the repository knows of worktrees that are no more. Only those: a prune would also forget others whose disk is merely
 * not mounted now. Not by `git worktree remove`: that refuses a worktree which is locked, as a killed `worktree add` leaves it, and
 * one whose folder is there without its `.git`, as a killed restore leaves it; the next `worktree add` would then refuse the place.
 */
async function forgetWorktrees(git: Git, repository: string, isGone: (path: string) => boolean): Promise<void> {
  const common = (await git.run(repository, ["rev-parse", "--path-format=absolute", "--git-common-dir"])).trim()
  const folder = join(common, "worktrees")
  for (const name of await readdir(folder).catch(() => [])) {
    const entry = join(folder, name)
    const gitFile = await readFile(join(entry, "gitdir"), "utf8").catch(() => "")
    const path = dirname(resolve(entry, gitFile.trim()))
    if (gitFile !== "" && isGone(path)) await rm(entry, { recursive: true, force: true })
  }
}

async function liesUnder(path: string, folder: string): Promise<boolean> {
  const [real, root] = await Promise.all([realpath(path).catch(() => null), realpath(folder).catch(() => null)])
  return real !== null && root !== null && real.startsWith(root + sep)
}

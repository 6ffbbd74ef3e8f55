import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { realpath } from "node:fs/promises"
import { join } from "node:path"
import { Failure } from "../failure"
import type { GitPipe, PipedGit } from "../git"

/** A tree so large that git needs longer is not compared; the page says so. */
const GIT_READ_TIMEOUT_MS = 20_000
/** Settings that say how bytes are compared. Nothing of them names a program. */
const COMPARING = "^core\\.(autocrlf|eol|filemode|ignorecase|symlinks)$"

export type Repository = {
  root: string
  gitDir: string
  commonDir: string
  /** Null before the first commit. */
  head: string | null
  branch: string | null
  /** Stands for "nothing yet" in a comparison. */
  emptyTree: string
  /** Where the task's own commits begin: what these reach is not of the task. */
  bases(): Promise<string[]>
  read: (args: string[], pipe?: GitPipe) => ReturnType<PipedGit>
}

/**
 * A workspace's repository for looking at. An agent may write what it likes into the repository's config: filters, diff drivers,
 * monitors, signature programs, remotes to fetch missing objects from. So git is given the repository's objects, its index and
 * its work tree, but another git folder, whose config is empty. Only questions that run nothing are asked of the real one.
 */
export async function openRepository(git: PipedGit, dataDir: string, workspace: string, taskBranch: string | null): Promise<Repository> {
  const root = await realpath(workspace).catch(() => {
    throw new Failure("WORKSPACE_MISSING", "The session's workspace does not exist.")
  })
  const ask = async (args: string[], accept: number[] = []) =>
    (await git(root, args, { accept, timeoutMs: GIT_READ_TIMEOUT_MS })).stdout.toString("utf8")
  const located = await ask([
    ...["rev-parse", "--path-format=absolute", "--show-toplevel", "--absolute-git-dir", "--git-common-dir"],
    ...["--git-path", "index", "--show-object-format"],
  ]).catch(() => "")
  const [top, gitDir = "", commonDir = "", index = "", format = "sha1"] = located.trimEnd().split("\n")
  if (top !== root) throw new Failure("NO_REPOSITORY", "The workspace is no git repository any more.")

  const [head, branch, comparing] = await Promise.all([
    ask(["rev-parse", "-q", "--verify", "HEAD^{commit}"], [1, 128]),
    ask(["symbolic-ref", "-q", "HEAD"], [1, 128]),
    ask(["config", "-z", "--get-regexp", COMPARING], [1]),
  ])
  const settings = comparing
    .split("\0")
    .filter(Boolean)
    .flatMap((pair) => ["-c", pair.replace("\n", "=")])
  const shallow = join(commonDir, "shallow")
  const env = {
    GIT_DIR: emptyGitFolder(dataDir, format),
    GIT_WORK_TREE: root,
    GIT_INDEX_FILE: index,
    GIT_OBJECT_DIRECTORY: join(commonDir, "objects"),
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_NO_LAZY_FETCH: "1",
    GIT_NO_REPLACE_OBJECTS: "1",
    GIT_LITERAL_PATHSPECS: "1",
    ...(existsSync(shallow) ? { GIT_SHALLOW_FILE: shallow } : {}),
  }
  const read: Repository["read"] = (args, pipe) =>
    git(root, [...settings, ...args], { timeoutMs: GIT_READ_TIMEOUT_MS, ...pipe, env: { ...env, ...pipe?.env } })
  const repository = {
    root,
    gitDir,
    commonDir,
    head: head.trim() || null,
    branch: branch.trim().replace(/^refs\/heads\//, "") || null,
    emptyTree: format === "sha256" ? EMPTY_TREE_SHA256 : EMPTY_TREE,
    read,
  }
  return { ...repository, bases: () => findBases(repository, taskBranch, ask) }
}

const EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
const EMPTY_TREE_SHA256 = "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"

/** The same for every session: it holds no state. */
function emptyGitFolder(dataDir: string, format: string): string {
  const folder = join(dataDir, "run", `git-${format}`)
  if (existsSync(join(folder, "HEAD"))) return folder
  for (const name of ["objects", "refs"]) mkdirSync(join(folder, name), { recursive: true, mode: 0o700 })
  const version = format === "sha256" ? `1\n[extensions]\n\tobjectformat = sha256` : "0"
  // A diff would write the index it found outdated, and lock it, whatever GIT_OPTIONAL_LOCKS says.
  const config = `[diff]\n\tautoRefreshIndex = false\n[core]\n\tbare = false\n\trepositoryformatversion = ${version}\n`
  writeFileSync(join(folder, "config"), config)
  // Last: it is what makes the folder one of git's.
  writeFileSync(join(folder, "HEAD"), "ref: refs/heads/none\n")
  return folder
}

type Found = Pick<Repository, "commonDir" | "head" | "branch" | "read">

/** Where the branch was made, as git noted it; where it did not, the other branches: what they have was not made here. */
async function findBases({ commonDir, head, branch, read }: Found, taskBranch: string | null, ask: (args: string[]) => Promise<string>) {
  if (head === null) return []
  const made = taskBranch === null ? null : creationOf(commonDir, taskBranch)
  if (made && (await read(["merge-base", "--is-ancestor", made, head], { accept: [1, 128] })).code === 0) return [made]
  const refs = (await ask(["for-each-ref", "--format=%(objecttype) %(objectname) %(refname)", "refs/heads", "refs/remotes"])).split("\n")
  const others = refs.flatMap((line) => {
    const [type, id = "", name = ""] = line.split(" ")
    const ours = name === `refs/heads/${branch}` || name.startsWith("refs/heads/rewake/")
    return type === "commit" && !ours ? [id] : []
  })
  return [...new Set(others)]
}

function creationOf(commonDir: string, branch: string): string | null {
  try {
    const [first = ""] = readFileSync(join(commonDir, "logs/refs/heads", branch), "utf8").split("\n", 1)
    return /^0+ ([0-9a-f]{40,64}) /.exec(first)?.[1] ?? null
  } catch {
    return null
  }
}

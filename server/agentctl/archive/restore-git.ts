import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { basename, join, resolve } from "node:path"
import type { WorkspaceSpec } from "../../../lib/contracts/agentctl/protocol"
import { withUmaskOfUsers } from "../../../lib/host/umask"
import { Failure } from "../failure"
import type { PipedGit } from "../git"
import { decodeName, GitState } from "./archive-format"
import { joinBytes, split } from "./links"
import { readNames } from "./name-list"
import { hostile } from "./tar-read"

/** Git's state out of an archive's data, by git's own commands: they check each name and each object. */

type Worktree = Extract<WorkspaceSpec, { kind: "worktree" }>
const OID = /^[0-9a-f]{40}([0-9a-f]{24})?$/

/** The states in the archive, the workspace's own first. Paths are those of folders that were unpacked, nothing else. */
function readStates(draft: string): { state: GitState; folder: string; path: Buffer }[] {
  const folder = join(draft, "git")
  const numbers = readdirSync(folder)
    .map(Number)
    .sort((a, b) => a - b)
  return numbers.map((n) => {
    const parsed = GitState.safeParse(JSON.parse(readFileSync(join(folder, String(n), "state.json"), "utf8")))
    if (!parsed.success) throw new Failure("ARCHIVE_BROKEN", "The archive's git state cannot be read.")
    const state = parsed.data
    const path = decodeName(state.path)
    const parts = split(path).map((part) => part.toString("latin1"))
    if (parts.some((part) => part === "." || part === ".." || part.toLowerCase() === ".git") || path[0] === 0x2f || path.includes(0)) {
      throw hostile("a repository in it leads out of the workspace")
    }
    const oids = [state.head.oid, ...state.refs.map((r) => r.oid), ...state.stash.map((s) => s.oid)]
    if (oids.some((oid) => oid !== null && !OID.test(oid))) throw hostile("an object's name in it is none")
    const names = [state.head.ref, ...state.refs.map((r) => r.name)]
    if (names.some((name) => name !== null && !/^refs\/[^\0-\x20]+$/.test(name))) throw hostile("a ref in it is none")
    return { state, folder: join(folder, String(n)), path }
  })
}

/** Makes the unpacked workspace a repository again, with every repository inside it. */
export async function restoreFolder(git: PipedGit, draft: string): Promise<string[]> {
  const notes: string[] = []
  for (const { state, folder, path } of readStates(draft)) notes.push(...(await restoreOwn(git, draft, state, folder, path)))
  return notes
}

async function restoreOwn(git: PipedGit, draft: string, state: GitState, folder: string, path: Buffer): Promise<string[]> {
  const workspace = Buffer.from(join(draft, "workspace"))
  const cwd = joinBytes(workspace, path).toString("utf8")
  withUmaskOfUsers(() => mkdirSync(cwd, { recursive: true }))
  await git(cwd, ["init", "-q", `--object-format=${state.object_format}`])
  await takeObjects(git, cwd, state, folder)
  const updates = state.refs.map(({ name, oid }) => `create ${name}\0${oid}\0`).join("")
  if (updates) await git(cwd, ["update-ref", "-z", "--stdin"], { input: Buffer.from(updates) })
  if (state.head.ref) await git(cwd, ["symbolic-ref", "HEAD", state.head.ref])
  else if (state.head.oid) await git(cwd, ["update-ref", "--no-deref", "HEAD", state.head.oid])
  for (const { oid, message } of state.stash) await git(cwd, ["stash", "store", "-q", "-m", message, oid])
  await restoreIndex(git, cwd, state, folder)
  return []
}

/**
 * Ties the unpacked files to their repository again as a worktree that will lie at `spec.path`. The branch is moved only
 * forward; where somebody else moved or uses it, the work tree stays on its commit without a branch, and says so.
 */
export async function restoreWorktree(git: PipedGit, draft: string, spec: Worktree): Promise<string[]> {
  const states = readStates(draft)
  const own = states.find(({ path }) => path.length === 0)
  const repository = spec.mirror ?? spec.repository
  if (!own) throw new Failure("ARCHIVE_BROKEN", "The archive holds no git state for its worktree.")
  const { state, folder } = own
  const cwd = join(draft, "workspace")
  if (!state.head.oid) throw new Failure("ARCHIVE_BROKEN", "The archive's worktree has no commit.")
  await takeObjects(git, repository, state, folder)
  const tips = [state.head.oid, ...state.refs.map((r) => r.oid)]
  const missing = await git(repository, ["rev-list", "--objects", "--quiet", ...tips, "--not", "--all"], { accept: [1, 128] })
  if (missing.code !== 0) throw new Failure("HISTORY_MISSING", "The repository no longer has the commits this work was based on.")

  const tie = join(draft, "tie", basename(spec.path))
  mkdirSync(join(draft, "tie"))
  // Absolute, whatever the user's config says: the tie is moved to another folder.
  await git(repository, [
    "-c",
    "worktree.useRelativePaths=false",
    "worktree",
    "add",
    "-q",
    "--no-checkout",
    "--detach",
    tie,
    state.head.oid,
  ])
  const gitFile = join(cwd, ".git")
  renameSync(join(tie, ".git"), gitFile)
  const notes: string[] = []
  for (const { name, oid } of state.refs) notes.push(...(await moveForward(git, repository, name, oid)))
  if (state.head.ref) notes.push(...(await takeBranch(git, cwd, repository, state.head.ref, state.head.oid)))
  await restoreIndex(git, cwd, state, folder)
  for (const nested of states) if (nested !== own) notes.push(...(await restoreOwn(git, draft, nested.state, nested.folder, nested.path)))
  // The last step before the folder gets its place: until then git knows this worktree by the draft's path, where a new try clears it away.
  const administration = readFileSync(gitFile, "utf8")
    .replace(/^gitdir: /, "")
    .trim()
  writeFileSync(join(administration, "gitdir"), `${join(spec.path, ".git")}\n`)
  return notes
}

async function takeObjects(git: PipedGit, cwd: string, state: GitState, folder: string): Promise<void> {
  if (!state.has_pack) return
  const fd = openSync(join(folder, "pack"), "r")
  try {
    await git(cwd, ["index-pack", "--stdin", "--fix-thin"], { input: fd })
  } finally {
    closeSync(fd)
  }
}

async function moveForward(git: PipedGit, repository: string, name: string, oid: string): Promise<string[]> {
  const { stdout } = await git(repository, ["rev-parse", "-q", "--verify", name], { accept: [1] })
  const now = stdout.toString("latin1").trim()
  if (now === oid) return []
  if (now === "") await git(repository, ["update-ref", name, oid, ""])
  else if (await isUsed(git, repository, name)) return [`${name} is checked out elsewhere and was left as it is.`]
  else if ((await git(repository, ["merge-base", "--is-ancestor", now, oid], { accept: [1] })).code === 0)
    await git(repository, ["update-ref", name, oid, now])
  else return [`${name} was changed since and was left as it is.`]
  return []
}

async function takeBranch(git: PipedGit, cwd: string, repository: string, ref: string, oid: string): Promise<string[]> {
  const { stdout } = await git(repository, ["rev-parse", "-q", "--verify", ref], { accept: [1] })
  const shown = ref.replace(/^refs\/heads\//, "")
  if (stdout.toString("latin1").trim() !== oid || (await isUsed(git, repository, ref))) {
    return [`The work tree is on its commit without a branch: ${shown} is used or was changed elsewhere.`]
  }
  await git(cwd, ["symbolic-ref", "HEAD", ref])
  return []
}

async function isUsed(git: PipedGit, repository: string, ref: string): Promise<boolean> {
  const { stdout } = await git(repository, ["worktree", "list", "--porcelain", "-z"])
  return stdout.toString("utf8").split("\0").includes(`branch ${ref}`)
}

async function restoreIndex(git: PipedGit, cwd: string, state: GitState, folder: string): Promise<void> {
  const feed = async (file: string, args: string[], before: string[] = []) => {
    if (!existsSync(file)) return
    const fd = openSync(file, "r")
    try {
      await git(cwd, [...before, ...args], { input: fd })
    } finally {
      closeSync(fd)
    }
  }
  await feed(join(folder, "index"), ["update-index", "-z", "--index-info"])
  const intent = join(folder, "intent")
  await feed(intent, ["update-index", "-z", "--force-remove", "--stdin"])
  await feed(intent, ["add", "-N", "-f", "--pathspec-from-file=-", "--pathspec-file-nul"], ["--literal-pathspecs"])
  for (const [flag, option] of [
    ["assume", "--assume-unchanged"],
    ["skip", "--skip-worktree"],
  ] as const) {
    const names = flagged(join(folder, "flags"), flag)
    if (names.length > 0) await git(cwd, ["update-index", "-z", option, "--stdin"], { input: names })
  }
  const gitDir = resolve(cwd, (await git(cwd, ["rev-parse", "--git-dir"])).stdout.toString("utf8").trim())
  for (const { name, content } of state.pseudo) {
    if (
      !content
        .trim()
        .split(/\s+/)
        .every((oid) => OID.test(oid))
    )
      throw hostile("an object's name in it is none")
    withUmaskOfUsers(() => writeFileSync(join(gitDir, name), content))
  }
  const { message } = state
  if (message !== null) withUmaskOfUsers(() => writeFileSync(join(gitDir, "MERGE_MSG"), message))
}

/** `git ls-files -v`: a small letter is assume-unchanged, S is skip-worktree. */
function flagged(file: string, flag: "assume" | "skip"): Buffer {
  if (!existsSync(file)) return Buffer.alloc(0)
  const names: Buffer[] = []
  for (const row of readNames(file)) {
    const letter = String.fromCharCode(row[0] ?? 0)
    const has = flag === "skip" ? letter.toUpperCase() === "S" : letter !== letter.toUpperCase()
    if (has) names.push(Buffer.from(row.subarray(2)), Buffer.from([0]))
  }
  return Buffer.concat(names)
}

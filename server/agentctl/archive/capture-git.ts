import { closeSync, existsSync, openSync, readdirSync, readFileSync, statSync } from "node:fs"
import { resolve } from "node:path"
import type { PipedGit } from "../git"
import { encodeName, type GitState, showName } from "./archive-format"
import { joinBytes } from "./links"
import { readNames } from "./name-list"

/** Git's state as data, never as git's own files: a config or a hook in an archive could run programs where it is unpacked. */

/** Other sessions' branches; in a mirror they exist only on this host, so nothing can be left to them. */
const SESSION_BRANCHES = "refs/heads/rewake/"
const IN_PROGRESS = ["rebase-merge", "rebase-apply", "BISECT_LOG", "sequencer"]

export interface CapturedGit {
  state: GitState
  /** Name inside the archive's folder for this repository, and the file that holds it. */
  files: { as: string; path: string }[]
  /** Parts of its state that are not carried over, and settings of its own. */
  omitted: { path: string; reason: "git_state" | "git_settings" }[]
}

type Options = { git: PipedGit; cwd: string; path: Buffer; kind: "own" | "worktree"; branch: string | null; draft: string }

export async function captureGit(options: Options): Promise<CapturedGit> {
  const { git, cwd, draft } = options
  const text = async (args: string[], accept: number[] = []) => (await git(cwd, args, { accept })).stdout.toString("utf8")
  const line = async (args: string[]) => (await text(args, [1, 128])).trim() || null
  const gitDir = resolve(cwd, (await line(["rev-parse", "--git-dir"])) ?? ".git")

  const ref = await line(["symbolic-ref", "-q", "HEAD"])
  const oid = await line(["rev-parse", "-q", "--verify", "HEAD^{commit}"])
  const all = (await text(["for-each-ref", "--format=%(objectname) %(refname)"]))
    .split("\n")
    .filter(Boolean)
    .map((row) => ({ oid: row.slice(0, row.indexOf(" ")), name: row.slice(row.indexOf(" ") + 1) }))
  const mine = new Set(["HEAD", ref, options.branch && `refs/heads/${options.branch}`])
  const refs = all.filter(({ name }) => name !== "refs/stash" && (options.kind === "own" || mine.has(name)))
  const stash = options.kind === "own" && all.some(({ name }) => name === "refs/stash") ? await stashes(text) : []
  const pseudo = (["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD"] as const).flatMap((name) => {
    const file = resolve(gitDir, name)
    return existsSync(file) ? [{ name, content: readFileSync(file, "utf8") }] : []
  })
  const message = pseudo.length > 0 && existsSync(resolve(gitDir, "MERGE_MSG")) ? readFileSync(resolve(gitDir, "MERGE_MSG"), "utf8") : null

  const files: CapturedGit["files"] = []
  const keep = async (as: string, args: string[], input?: Buffer) => {
    const file = `${draft}-${as}`
    const fd = openSync(file, "wx", 0o600)
    try {
      await git(cwd, args, { output: fd, ...(input ? { input } : {}) })
    } finally {
      closeSync(fd)
    }
    if (statSync(file).size > 0) files.push({ as, path: file })
    return file
  }
  await keep("index", ["ls-files", "-z", "--stage"])
  // What is only promised to the index (`add -N`) has no content there yet; git tells it as added in the work tree.
  await keep("intent", ["diff-files", "-z", "--name-only", "--no-renames", "--ignore-submodules", "--diff-filter=A"])
  const flags = await keep("flags", ["ls-files", "-z", "-v"])
  if (!hasFlags(flags))
    files.splice(
      files.findIndex(({ as }) => as === "flags"),
      files.some(({ as }) => as === "flags") ? 1 : 0,
    )

  const tips = unique([oid, ...refs.map((r) => r.oid), ...stash.map((s) => s.oid), ...pseudo.flatMap((p) => p.content.split(/\s+/))])
  const bases =
    options.kind === "own" ? [] : all.filter(({ name }) => !mine.has(name) && !name.startsWith(SESSION_BRANCHES)).map((r) => r.oid)
  const objects = await objectsToKeep(options, tips, unique(bases), await stagedObjects(git, cwd, oid))
  if (objects.length > 0)
    await keep("pack", ["-c", "pack.compression=1", "pack-objects", "-q", "--stdout", "--window=0", "--delta-base-offset"], objects)

  return {
    state: {
      path: encodeName(options.path),
      object_format: (await line(["rev-parse", "--show-object-format"])) === "sha256" ? "sha256" : "sha1",
      head: { ref, oid },
      refs,
      stash,
      pseudo,
      message,
      has_pack: files.some(({ as }) => as === "pack"),
    },
    files,
    omitted: [
      ...IN_PROGRESS.filter((name) => existsSync(resolve(gitDir, name))).map((name) => ({ name, reason: "git_state" as const })),
      // Those of a worktree are its repository's, which stays where it is.
      ...(options.kind === "own" ? await settingsOf(text, gitDir) : []).map((name) => ({ name, reason: "git_settings" as const })),
    ].map(({ name, reason }) => ({ path: `${showName(joinBytes(options.path, Buffer.from(`.git/${name}`)))}`, reason })),
  }
}

/** What `git init` writes by itself is no setting of anybody's. */
const INITIAL =
  /^(core\.(repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks)|extensions\.objectformat)$/

async function settingsOf(text: (args: string[], accept: number[]) => Promise<string>, gitDir: string): Promise<string[]> {
  const names = (await text(["config", "--local", "-z", "--name-only", "--list"], [1, 128])).split("\0").filter(Boolean)
  const hooks = existsSync(resolve(gitDir, "hooks")) ? readdirSync(resolve(gitDir, "hooks")) : []
  return [
    ...(names.every((name) => INITIAL.test(name)) ? [] : ["config"]),
    ...hooks.filter((name) => !name.endsWith(".sample")).map((name) => `hooks/${name}`),
  ]
}

/** Oldest first, so that storing them in order gives the same list. */
async function stashes(text: (args: string[]) => Promise<string>): Promise<GitState["stash"]> {
  const rows = (await text(["log", "-g", "-z", "--format=%H %gs", "refs/stash", "--"])).split("\0").filter(Boolean)
  return rows.map((row) => ({ oid: row.slice(0, row.indexOf(" ")), message: row.slice(row.indexOf(" ") + 1) })).reverse()
}

/** `H` is a plain entry; anything else is a bit that `--index-info` does not carry. */
function hasFlags(file: string): boolean {
  for (const row of readNames(file)) if (row[0] !== 0x48 && row[0] !== 0x4d) return true
  return false
}

/** Blobs the index has and HEAD does not: staged, or sides of a conflict. */
async function stagedObjects(git: PipedGit, cwd: string, head: string | null): Promise<string[]> {
  const args = head ? ["diff-index", "-z", "--cached", "--raw", "--no-abbrev", "--no-renames", head] : ["ls-files", "-z", "--stage"]
  const rows = (await git(cwd, args)).stdout.toString("latin1").split("\0")
  const unmerged = (await git(cwd, ["ls-files", "-z", "-u"])).stdout.toString("latin1").split("\0")
  const found: string[] = []
  for (const row of head ? rows : []) {
    const [, mode, , oid] = row.split(" ")
    if (row.startsWith(":") && mode && oid && mode !== "160000") found.push(oid)
  }
  for (const row of head ? unmerged : [...rows, ...unmerged]) {
    const [mode, oid] = row.split(" ")
    if (mode && oid && mode !== "160000") found.push(oid)
  }
  return unique(found.filter((oid) => !/^0+$/.test(oid)))
}

/** Names of the objects to pack, one a line. Those an `add -N` names need not exist. */
async function objectsToKeep({ git, cwd }: Options, tips: string[], bases: string[], staged: string[]): Promise<Buffer> {
  const wanted = Buffer.from([...tips, ...bases.map((oid) => `^${oid}`)].map((oid) => `${oid}\n`).join(""))
  const reachable =
    tips.length > 0
      ? (await git(cwd, ["rev-list", "--objects", "--no-object-names", "--stdin"], { input: wanted })).stdout
      : Buffer.alloc(0)
  if (staged.length === 0) return reachable
  const checked = await git(cwd, ["cat-file", "--batch-check=%(objectname) %(objecttype)"], {
    input: Buffer.from(staged.map((oid) => `${oid}\n`).join("")),
  })
  const existing = checked.stdout
    .toString("latin1")
    .split("\n")
    .flatMap((row) => (row.endsWith(" blob") ? [`${row.slice(0, -5)}\n`] : []))
  return Buffer.concat([reachable, Buffer.from(existing.join(""))])
}

const unique = (oids: (string | null)[]): string[] => [...new Set(oids.filter((oid): oid is string => Boolean(oid)))]

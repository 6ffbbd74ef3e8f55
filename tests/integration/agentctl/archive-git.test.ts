import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { beforeEach, expect, test } from "vitest"
import type { PutRestore } from "../../../lib/contracts/agentctl/archive"
import { git, gitView, packed, putRestore, restored, snapshot } from "../../support/archives"
import { useDaemon } from "../../support/use-daemon"

let source: string
let path: string

const daemon = useDaemon()
beforeEach(() => {
  source = join(daemon.dataDir, "source")
  path = join(daemon.dataDir, "workspaces/1/sess_w")
  mkdirSync(source)
  git(source, "init", "-q", "-b", "main")
  for (const name of ["a.txt", "b.txt", "c.txt"]) writeFileSync(join(source, name), `${name}\n`)
  git(source, "add", ".")
  git(source, "commit", "-q", "-m", "first")
})

const BRANCH = "rewake/task-1-x"
const local = (): PutRestore["workspace"] => ({ kind: "worktree", path, repository: source, mirror: null, branch: BRANCH })
const put = (workspace: unknown) => daemon.call("PUT", "/sessions/sess_w", { body: { generation: 1, workspace } })

async function work(spec: PutRestore["workspace"]) {
  expect((await put(spec)).status).toBe(200)
  writeFileSync(join(path, "a.txt"), "committed here")
  git(path, "commit", "-q", "-am", "only here")
  writeFileSync(join(path, "b.txt"), "staged here")
  git(path, "add", "b.txt")
  writeFileSync(join(path, "c.txt"), "changed here")
  writeFileSync(join(path, "d.txt"), "new here")
  git(path, "status")
  return { files: snapshot(path), git: gitView(path) }
}
async function archived(spec: PutRestore["workspace"]) {
  const before = await work(spec)
  const archive = await packed(daemon, "sess_w", "arc_w")
  expect(archive).toMatchObject({ state: "packed", error: null })
  await daemon.call("DELETE", "/sessions/sess_w?generation=1")
  expect(existsSync(path)).toBe(false)
  return { before, archive }
}

test("a worktree comes back on its branch, with its commit, its index and its files", async () => {
  const { before, archive } = await archived(local())
  expect(await restored(daemon, "sess_w", "arc_w", putRestore(local(), archive))).toMatchObject({ state: "restored", notes: [] })
  expect(snapshot(path)).toEqual(before.files)
  expect(gitView(path)).toEqual(before.git)
  expect(git(source, "worktree", "list")).toContain(`${path} `)
  expect(git(source, "worktree", "list").trim().split("\n")).toHaveLength(2)
  git(path, "commit", "-qam", "goes on")
  expect(git(source, "log", "-1", "--format=%s", BRANCH)).toBe("goes on\n")
})

test("commits that exist only here come back into a repository that has never seen them", async () => {
  const mirror = join(daemon.dataDir, "repositories/source")
  const spec: PutRestore["workspace"] = { kind: "worktree", path, repository: `file://${source}`, mirror, branch: BRANCH }
  const { before, archive } = await archived(spec)
  rmSync(mirror, { recursive: true })
  expect(await restored(daemon, "sess_w", "arc_w", putRestore(spec, archive))).toMatchObject({ state: "restored", notes: [] })
  expect(snapshot(path)).toEqual(before.files)
  expect(gitView(path)).toEqual(before.git)
  expect(git(path, "fsck")).toBe("")
})

test("a branch somebody moved or uses is left alone: the work comes back on its commit, and says so", async () => {
  const { before, archive } = await archived(local())
  git(source, "branch", "-f", BRANCH, "main")
  git(source, "checkout", "-q", BRANCH)
  writeFileSync(join(source, "e.txt"), "somebody else's")
  git(source, "add", ".")
  git(source, "commit", "-q", "-m", "elsewhere")
  const moved = git(source, "rev-parse", BRANCH)
  const back = await restored(daemon, "sess_w", "arc_w", putRestore(local(), archive))
  expect(back.state).toBe("restored")
  expect(back.notes.join(" ")).toContain(BRANCH)
  expect(git(source, "rev-parse", BRANCH)).toBe(moved)
  expect(snapshot(path)).toEqual(before.files)
  expect(git(path, "log", "-1", "--format=%s")).toBe("only here\n")
  expect(git(path, "status", "--porcelain")).toContain("M  b.txt")
})

test("a deleted branch is made again; history that is gone is said, and nothing is left behind", async () => {
  const { before, archive } = await archived(local())
  git(source, "branch", "-D", BRANCH)
  expect(await restored(daemon, "sess_w", "arc_w", putRestore(local(), archive))).toMatchObject({ state: "restored", notes: [] })
  expect(gitView(path)).toEqual(before.git)

  await daemon.call("DELETE", "/sessions/sess_w?generation=2")
  rmSync(source, { recursive: true })
  mkdirSync(source)
  git(source, "init", "-q", "-b", "main")
  git(source, "commit", "-q", "--allow-empty", "-m", "another history")
  const failed = await restored(daemon, "sess_w", "arc_w", putRestore(local(), archive))
  expect(failed).toMatchObject({ state: "failed", error: { code: "HISTORY_MISSING" } })
  expect(existsSync(path)).toBe(false)
  expect(existsSync(`${path}.restoring`)).toBe(false)
  expect(git(source, "worktree", "list").trim().split("\n")).toHaveLength(1)
})

test("a repository cloned into the workspace, a submodule, a merge in progress and a detached head come back", async () => {
  path = join(daemon.dataDir, "workspaces/sess_f")
  const spec = { kind: "folder" as const, path }
  await daemon.putSession("sess_f")
  git(path, "submodule", "--quiet", "add", source, "sub")
  git(path, "commit", "-q", "-m", "with a submodule")
  git(path, "clone", "-q", source, "nested")
  const nested = join(path, "nested")
  writeFileSync(join(nested, "a.txt"), "changed in the clone")
  git(nested, "checkout", "-q", "-b", "mine")
  git(nested, "commit", "-qam", "in the clone")
  git(nested, "checkout", "-q", "--detach")
  writeFileSync(join(nested, "loose.txt"), "untracked in the clone")
  writeFileSync(join(path, "x.txt"), "base\n")
  git(path, "add", "x.txt")
  git(path, "commit", "-q", "-m", "x")
  git(path, "checkout", "-q", "-b", "other")
  writeFileSync(join(path, "x.txt"), "theirs\n")
  git(path, "commit", "-qam", "theirs")
  git(path, "checkout", "-q", "main")
  writeFileSync(join(path, "x.txt"), "ours\n")
  git(path, "commit", "-qam", "ours")
  expect(() => git(path, "merge", "-q", "other")).toThrow()
  git(path, "status")
  git(nested, "status")
  const view = (p: string) => ({ ...gitView(p), head: gitView(p).head })
  const before = { files: snapshot(path), git: view(path), nested: view(nested), sub: git(join(path, "sub"), "log", "--format=%H") }

  const archive = await packed(daemon, "sess_f", "arc_f")
  expect(archive).toMatchObject({ state: "packed", error: null })
  await daemon.call("DELETE", "/sessions/sess_f?generation=1")
  expect(await restored(daemon, "sess_f", "arc_f", putRestore(spec, archive))).toMatchObject({ state: "restored", error: null })
  expect(snapshot(path)).toEqual(before.files)
  expect(view(path)).toEqual(before.git)
  expect(view(nested)).toEqual(before.nested)
  expect(git(join(path, "sub"), "log", "--format=%H")).toBe(before.sub)
  expect(readFileSync(join(path, ".git/MERGE_HEAD"), "utf8").trim()).toBe(git(path, "rev-parse", "other").trim())
  writeFileSync(join(path, "x.txt"), "both\n")
  git(path, "commit", "-qam", "merged")
  expect(git(path, "log", "-1", "--format=%P").trim().split(" ")).toHaveLength(2)
})

test("hooks and configuration of git are not carried: what ran before runs no more", async () => {
  path = join(daemon.dataDir, "workspaces/sess_h")
  await daemon.putSession("sess_h")
  const witness = join(daemon.dataDir, "hook-ran")
  writeFileSync(join(path, ".git/hooks/post-checkout"), `#!/bin/sh\ntouch ${witness}\n`, { mode: 0o755 })
  writeFileSync(join(path, ".git/hooks/post-index-change"), `#!/bin/sh\ntouch ${witness}\n`, { mode: 0o755 })
  git(path, "config", "core.fsmonitor", `touch ${witness}; true`)
  git(path, "config", "alias.evil", "!touch /nowhere")
  writeFileSync(join(path, "file.txt"), "content")
  const archive = await packed(daemon, "sess_h", "arc_h")
  expect(archive.state).toBe("packed")
  await daemon.call("DELETE", "/sessions/sess_h?generation=1")
  rmSync(witness, { force: true })
  expect((await restored(daemon, "sess_h", "arc_h", putRestore({ kind: "folder", path }, archive))).state).toBe("restored")
  expect(existsSync(join(path, ".git/hooks/post-checkout"))).toBe(false)
  expect(readFileSync(join(path, ".git/config"), "utf8")).not.toContain("touch")
  expect(existsSync(witness)).toBe(false)
})

test("a folder whose .git was removed is archived with all its files", async () => {
  path = join(daemon.dataDir, "workspaces/sess_n")
  await daemon.putSession("sess_n")
  rmSync(join(path, ".git"), { recursive: true })
  mkdirSync(join(path, "sub/deep"), { recursive: true })
  writeFileSync(join(path, "sub/deep/file"), "content")
  writeFileSync(join(path, ".gitignore"), "sub/\n")
  const before = snapshot(path)
  const archive = await packed(daemon, "sess_n", "arc_n")
  await daemon.call("DELETE", "/sessions/sess_n?generation=1")
  expect((await restored(daemon, "sess_n", "arc_n", putRestore({ kind: "folder", path }, archive))).state).toBe("restored")
  expect(snapshot(path)).toEqual(before)
})

/** What a restore killed at that moment leaves, each beside the folder it was unpacked into. */
const CUT_SHORT: [string, (draft: string, tie: string) => void][] = [
  ["during worktree add, which leaves a lock", (_, tie) => addWorktree(tie, "--lock")],
  [
    "after .git was moved",
    (_, tie) => {
      addWorktree(tie)
      rmSync(join(tie, ".git"))
    },
  ],
  [
    "after git was told its place",
    (_, tie) => {
      addWorktree(tie)
      git(tie, "checkout", "-q", BRANCH)
      writeFileSync(join(source, ".git/worktrees/sess_w/gitdir"), `${join(path, ".git")}\n`)
      mkdirSync(path)
    },
  ],
  ["while unpacking", (draft) => writeFileSync(join(draft, "unpacked"), "half")],
]
const addWorktree = (tie: string, ...more: string[]) => git(source, "worktree", "add", "-q", "--no-checkout", "--detach", ...more, tie)

test.each(CUT_SHORT)("a restore killed %s starts over and leaves one worktree", async (_, leave) => {
  const { before, archive } = await archived(local())
  const draft = `${path}.restoring`
  mkdirSync(join(draft, "tie"), { recursive: true })
  leave(draft, join(draft, "tie/sess_w"))
  expect(await restored(daemon, "sess_w", "arc_w", putRestore(local(), archive))).toMatchObject({ state: "restored", notes: [] })
  expect(snapshot(path)).toEqual(before.files)
  expect(gitView(path)).toEqual(before.git)
  expect(existsSync(draft)).toBe(false)
  expect(git(source, "worktree", "list").trim().split("\n")).toHaveLength(2)
})

test("git that fails in a restore is told in our words; the log has git's, and the next try succeeds", async () => {
  const { before, archive } = await archived(local())
  const lock = join(source, ".git/refs/heads", `${BRANCH}.lock`)
  git(source, "branch", "-f", BRANCH, "main")
  writeFileSync(lock, "")
  const failed = await restored(daemon, "sess_w", "arc_w", putRestore(local(), archive))
  expect(failed).toMatchObject({ state: "failed", error: { code: "WORKSPACE_FAILED" } })
  expect(failed.error?.message).toContain(`the lock file ${JSON.stringify(lock)} exists`)
  expect(failed.error?.message).not.toMatch(/fatal|hint|Unable/)
  expect(readFileSync(join(daemon.dataDir, "logs/agentctl.log"), "utf8")).toContain("fatal: update_ref failed")
  rmSync(lock)
  expect(await restored(daemon, "sess_w", "arc_w", putRestore(local(), archive))).toMatchObject({ state: "restored", notes: [] })
  expect(gitView(path)).toEqual(before.git)
})

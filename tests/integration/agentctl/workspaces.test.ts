import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import type { DaemonSession } from "../../../lib/contracts/agentctl/protocol"
import { useDaemon } from "../../support/use-daemon"

const daemon = useDaemon()

const git = (cwd: string, ...args: string[]) =>
  execFileSync("git", ["-c", "user.name=T", "-c", "user.email=t@example.com", ...args], { cwd, encoding: "utf8" }).trim()

function repository(name: string): string {
  const path = join(daemon.dataDir, name)
  mkdirSync(path)
  git(path, "init", "-q", "-b", "main")
  writeFileSync(join(path, "readme.txt"), "hello")
  git(path, "add", ".")
  git(path, "commit", "-q", "-m", "first")
  return path
}
const put = (id: string, workspace: unknown) =>
  daemon.call<DaemonSession & { code?: string; message?: string }>("PUT", `/sessions/${id}`, { body: { generation: 1, workspace } })

test("a folder workspace is a repository of its own with a first commit, and making it again changes nothing", async () => {
  git(daemon.dataDir, "init", "-q")
  const path = join(daemon.dataDir, "workspaces/sess_f")
  const first = await daemon.putSession("sess_f")
  expect(first).toMatchObject({ workspace_path: path, worktree_branch: null })
  const head = git(path, "rev-parse", "HEAD")
  expect(git(path, "rev-parse", "--show-toplevel")).toBe(path)
  writeFileSync(join(path, "work.txt"), "mine")
  const answers = await Promise.all([1, 2, 3].map(() => daemon.putSession("sess_f")))
  expect(answers).toEqual([first, first, first])
  expect(git(path, "rev-parse", "HEAD")).toBe(head)
  expect(git(path, "status", "--porcelain")).toBe("?? work.txt")
})

test("a worktree is made once on its branch; work in it, and its branch, outlive a repetition and a lost folder", async () => {
  const source = repository("source")
  const path = join(daemon.dataDir, "workspaces/1/sess_w")
  const spec = { kind: "worktree", path, repository: source, mirror: null, branch: "rewake/task-1-x" }
  expect((await put("sess_w", spec)).body).toMatchObject({ workspace_path: path, worktree_branch: "rewake/task-1-x" })
  writeFileSync(join(path, "new.txt"), "committed")
  git(path, "add", ".")
  git(path, "commit", "-q", "-m", "work")
  writeFileSync(join(path, "readme.txt"), "changed")
  expect((await put("sess_w", spec)).status).toBe(200)
  expect(readFileSync(join(path, "readme.txt"), "utf8")).toBe("changed")

  rmSync(path, { recursive: true })
  expect((await put("sess_w", spec)).status).toBe(200)
  expect(readFileSync(join(path, "new.txt"), "utf8")).toBe("committed")
  expect(git(path, "branch", "--show-current")).toBe("rewake/task-1-x")
  expect(git(source, "branch", "--show-current")).toBe("main")
})

test("worktrees of one repository asked for at once are all made", async () => {
  const source = repository("source")
  const specs = [1, 2, 3, 4].map((i) => ({
    kind: "worktree",
    path: join(daemon.dataDir, `workspaces/w${i}`),
    repository: source,
    mirror: null,
    branch: `b${i}`,
  }))
  const answers = await Promise.all(specs.map((spec, i) => put(`sess_w${i}`, spec)))
  expect(answers.map((a) => a.status)).toEqual([200, 200, 200, 200])
})

test("a repository given by URL is cloned once and starts each new session from its newest commit", async () => {
  const source = repository("source")
  const spec = (name: string) => ({
    kind: "worktree",
    path: join(daemon.dataDir, `workspaces/${name}`),
    repository: `file://${source}`,
    mirror: join(daemon.dataDir, "repositories/source"),
    branch: `rewake/${name}`,
  })
  expect((await put("sess_u1", spec("u1"))).status).toBe(200)
  writeFileSync(join(source, "later.txt"), "later")
  git(source, "add", ".")
  git(source, "commit", "-q", "-m", "later")
  expect((await put("sess_u2", spec("u2"))).status).toBe(200)
  expect(existsSync(join(daemon.dataDir, "workspaces/u1/later.txt"))).toBe(false)
  expect(existsSync(join(daemon.dataDir, "workspaces/u2/later.txt"))).toBe(true)
})

test("what cannot be made is refused with the reason, and what is there is left as it is", async () => {
  const source = repository("source")
  const occupied = join(daemon.dataDir, "workspaces/occupied")
  mkdirSync(occupied)
  writeFileSync(join(occupied, "precious.txt"), "precious")
  const spec = { kind: "worktree", path: occupied, repository: source, mirror: null, branch: "b" }
  expect((await put("sess_x", spec)).body).toMatchObject({ code: "WORKSPACE_FAILED" })
  expect(readFileSync(join(occupied, "precious.txt"), "utf8")).toBe("precious")
  const refused = await put("sess_y", { ...spec, path: join(daemon.dataDir, "workspaces/y"), branch: "main" })
  expect(refused.body.message).toBe(
    "git worktree add failed (exit code 128). The branch is already checked out in another worktree of the repository.",
  )
  expect((await put("sess_z", { ...spec, path: join(daemon.dataDir, "workspaces/z"), repository: "/nowhere" })).body.code).toBe(
    "WORKSPACE_FAILED",
  )
  expect((await daemon.putAgent("sess_z", "exec_1")).body.code).toBe("WORKSPACE_MISSING")
})

test("deleting a session ends its agent and moves only a workspace of Rewake's own into the trash", async () => {
  const source = repository("source")
  const path = join(daemon.dataDir, "workspaces/sess_d")
  await put("sess_d", { kind: "worktree", path, repository: source, mirror: null, branch: "b" })
  await daemon.putAgent("sess_d", "exec_1")
  writeFileSync(join(path, "unsaved.txt"), "unsaved")
  const elsewhere = join(daemon.dataDir, "elsewhere")
  await put("sess_e", { kind: "folder", path: elsewhere })

  expect((await daemon.call("DELETE", "/sessions/sess_d")).body).toEqual({ deleted: true, workspace_discarded: true })
  expect((await daemon.call("DELETE", "/sessions/sess_d")).body).toEqual({ deleted: false, workspace_discarded: false })
  expect((await daemon.call("DELETE", "/sessions/sess_e")).body).toEqual({ deleted: true, workspace_discarded: false })
  expect(existsSync(path)).toBe(false)
  expect(existsSync(join(elsewhere, ".git"))).toBe(true)
  const [trashed] = readdirSync(join(daemon.dataDir, "trash"))
  expect(readFileSync(join(daemon.dataDir, "trash", trashed as string, "unsaved.txt"), "utf8")).toBe("unsaved")
  expect(git(source, "worktree", "list").split("\n")).toHaveLength(1)
  expect(readdirSync(join(daemon.dataDir, "sessions"))).toEqual([])
  expect((await daemon.call("GET", "/sessions/sess_d")).status).toBe(404)
})

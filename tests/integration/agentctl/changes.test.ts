import { execFileSync } from "node:child_process"
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs"
import http from "node:http"
import { join } from "node:path"
import { beforeEach, describe, expect, test } from "vitest"
import type { ChangedFile, Changes, FileDiff } from "../../../lib/contracts/workspace"
import { MAX_DIFF_BYTES } from "../../../lib/contracts/workspace"
import { type FileCalls, fileCalls } from "../../support/daemon-files"
import { useDaemon } from "../../support/use-daemon"

let id: string
let root: string
let calls: FileCalls
let count = 0

const daemon = useDaemon({ per: "file" })
beforeEach(async () => {
  id = `sess_changes${count++}`
  root = (await daemon.putSession(id)).workspace_path
  calls = fileCalls(daemon, id)
})

const git = (...args: string[]) =>
  execFileSync("git", ["-c", "user.name=T", "-c", "user.email=t@example.com", ...args], { cwd: root, encoding: "utf8" }).trim()
const write = (name: string, content: string | Buffer) => {
  mkdirSync(join(root, name, ".."), { recursive: true })
  writeFileSync(join(root, name), content)
}
const commit = (message: string) => {
  git("add", "-A")
  git("commit", "-q", "-m", message)
}
const changes = async () => {
  const { status, body } = await calls.changes<Changes>()
  expect(status).toBe(200)
  return body
}
const diff = async (path: string, of: string, oldPath?: string) => (await calls.diff<FileDiff>(path, of, oldPath)).body
const brief = (files: ChangedFile[]) => files.map(({ path, status, added, removed }) => [path, status, added, removed])
const lines = (n: number, word = "line") => Array.from({ length: n }, (_, i) => `${word} ${i + 1}\n`).join("")

test("a fresh workspace has no changes, and the commit it begins with is not the task's", async () => {
  expect(await changes()).toMatchObject({
    branch: "main",
    staged: [],
    unstaged: [],
    untracked: [],
    conflicts: [],
    commits: [],
    truncated: false,
  })
})

test("staged, unstaged, untracked and committed changes are told apart, with lines and sizes", async () => {
  write("a.txt", lines(10))
  write("b.txt", "b\n")
  write("gone.txt", "gone\n")
  commit("first work")
  write("a.txt", lines(10).replace("line 5\n", "line five\nand more\n"))
  git("add", "a.txt")
  write("a.txt", `${readFileSync(join(root, "a.txt"), "utf8")}last\n`)
  git("rm", "-q", "gone.txt")
  write("new/file.txt", "one\ntwo")
  write("ignored.log", "x")
  write(".gitignore", "*.log\n")
  const now = await changes()
  expect(brief(now.staged)).toEqual([
    ["a.txt", "modified", 2, 1],
    ["gone.txt", "deleted", 0, 1],
  ])
  expect(brief(now.unstaged)).toEqual([["a.txt", "modified", 1, 0]])
  expect(brief(now.untracked)).toEqual([
    [".gitignore", "added", 1, 0],
    ["new/file.txt", "added", 2, 0],
  ])
  expect(now.unstaged[0]?.new_bytes).toBe(statSync(join(root, "a.txt")).size)
  expect(now.commits.map(({ subject, author, files }) => [subject, author, brief(files)])).toEqual([
    [
      "first work",
      "T",
      [
        ["a.txt", "added", 10, 0],
        ["b.txt", "added", 1, 0],
        ["gone.txt", "added", 1, 0],
      ],
    ],
  ])
  expect((await diff("a.txt", "staged")).diff).toContain("-line 5\n+line five\n+and more\n")
  expect((await diff("a.txt", "unstaged")).diff).toContain("+last\n")
  expect((await diff("a.txt", "unstaged")).diff).not.toContain("five\n+")
  expect((await diff("new/file.txt", "untracked")).diff).toContain("@@ -0,0 +1,2 @@\n+one\n+two\n\\ No newline at end of file\n")
  expect((await diff("a.txt", now.commits[0]?.id ?? "")).diff).toContain("@@ -0,0 +1,10 @@\n+line 1\n")
  expect((await calls.diff("a.txt", "0".repeat(40))).body.code).toBe("PATH_MISSING")
  expect((await calls.diff("a.txt", "--output=x")).body.code).toBe("INVALID_INPUT")
})

test("a rename is one change of one file, a mode and a link are changes too", async () => {
  write("old name.txt", lines(20))
  write("script", "x\n")
  write("target", "x\n")
  commit("first")
  git("mv", "old name.txt", "new name.txt")
  chmodSync(join(root, "script"), 0o755)
  rmSync(join(root, "target"))
  symlinkSync("script", join(root, "target"))
  symlinkSync("/etc/passwd", join(root, "link"))
  const now = await changes()
  expect(now.staged).toMatchObject([{ path: "new name.txt", old_path: "old name.txt", status: "renamed", added: 0, removed: 0 }])
  expect(now.unstaged.map(({ path, status }) => [path, status])).toEqual([
    ["script", "modified"],
    ["target", "type_changed"],
  ])
  expect((await diff("new name.txt", "staged", "old name.txt")).diff).toContain("rename from old name.txt\nrename to new name.txt\n")
  expect((await diff("script", "unstaged")).diff).toContain("old mode 100644\nnew mode 100755\n")
  expect((await diff("link", "untracked")).diff).toContain("+/etc/passwd\n\\ No newline")
})

test("binary files are named with their sizes; a diff too large is not sent, but its size is", async () => {
  write("image.png", Buffer.from([137, 80, 78, 71, 0, 1, 2]))
  write("big.txt", "x\n")
  commit("first")
  write("image.png", Buffer.from([137, 80, 78, 71, 0, 1, 2, 3, 4]))
  write("fresh.bin", Buffer.from([0, 1]))
  write("big.txt", "a line of some length\n".repeat(MAX_DIFF_BYTES / 20))
  write("huge-new.txt", Buffer.alloc(MAX_DIFF_BYTES + 1, "y"))
  const now = await changes()
  expect(now.unstaged.find(({ path }) => path === "image.png")).toMatchObject({ binary: true, added: null, old_bytes: 7, new_bytes: 9 })
  expect(now.untracked.find(({ path }) => path === "fresh.bin")).toMatchObject({ binary: true, added: null, new_bytes: 2 })
  const large = await diff("big.txt", "unstaged")
  expect(large).toMatchObject({ diff: null, limit_bytes: MAX_DIFF_BYTES })
  expect(large.bytes).toBeGreaterThan(MAX_DIFF_BYTES)
  expect(await diff("huge-new.txt", "untracked")).toMatchObject({ diff: null, bytes: MAX_DIFF_BYTES + 1 })
  expect((await diff("image.png", "unstaged")).diff).toContain("Binary files a/image.png and b/image.png differ")
})

test("a conflict is a conflict, and neither staged nor unstaged", async () => {
  write("a.txt", "base\n")
  commit("base")
  git("checkout", "-q", "-b", "other")
  write("a.txt", "theirs\n")
  commit("theirs")
  git("checkout", "-q", "main")
  write("a.txt", "ours\n")
  commit("ours")
  expect(() => git("merge", "-q", "other")).toThrow()
  const now = await changes()
  expect([now.conflicts.map(({ path, status }) => [path, status]), now.staged, now.unstaged]).toEqual([[["a.txt", "conflicted"]], [], []])
  expect((await diff("a.txt", "unstaged")).diff).toContain("+<<<<<<< HEAD")
})

test("a version changes with the content and stays when a file is only touched, which is no change at all", async () => {
  write("a.txt", "a\n")
  write("b.txt", "b\n")
  commit("first")
  write("a.txt", "changed\n")
  const first = (await changes()).unstaged
  utimesSync(join(root, "b.txt"), new Date(), new Date(Date.now() + 10_000))
  const second = (await changes()).unstaged
  expect(second).toEqual(first)
  write("a.txt", "changed again\n")
  expect((await changes()).unstaged[0]?.version).not.toBe(first[0]?.version)
})

test("the index is never written and never locked: the agent's own git goes on undisturbed", async () => {
  write("a.txt", "a\n")
  commit("first")
  utimesSync(join(root, "a.txt"), new Date(), new Date(Date.now() + 10_000))
  const before = statSync(join(root, ".git/index"), { bigint: true })
  writeFileSync(join(root, ".git/index.lock"), "")
  await changes()
  await diff("a.txt", "unstaged")
  rmSync(join(root, ".git/index.lock"))
  await changes()
  const after = statSync(join(root, ".git/index"), { bigint: true })
  expect([after.mtimeNs, after.ino]).toEqual([before.mtimeNs, before.ino])
})

test("a repository whose index is split is compared like any other", async () => {
  write("kept.txt", "one\n")
  commit("base")
  git("update-index", "--split-index")
  write("kept.txt", "two\n")
  write("staged.txt", "new\n")
  git("add", "staged.txt")
  expect(await changes()).toMatchObject({ staged: [{ path: "staged.txt" }], unstaged: [{ path: "kept.txt" }] })
})

describe("names", () => {
  test.each(["-rf", "--output=pwned", "a\nb", 'quote"d', "käse", ":(glob)*", "*", "a b", "\t"])(
    "%j is compared like any other",
    async (name) => {
      write(name, "one\n")
      write("other.txt", "o\n")
      commit("first")
      write(name, "two\n")
      write("other.txt", "p\n")
      expect((await changes()).unstaged.map(({ path }) => path)).toContain(name)
      const text = (await diff(name, "unstaged")).diff ?? ""
      expect(text).toContain("-one\n+two\n")
      expect(text).not.toContain("-o\n")
      expect(existsSync(join(root, "pwned"))).toBe(false)
    },
  )

  test("paths that lead out of the workspace, or into git's own files, have no diff", async () => {
    for (const path of ["../secret", "/etc/passwd", ".git/config"]) {
      for (const of of ["untracked", "unstaged", "staged"]) {
        expect((await calls.diff(path, of)).body).toMatchObject({ code: "PATH_REFUSED" })
      }
    }
  })
})

test("nothing a repository's config or attributes name is run, and nothing is fetched", async () => {
  const ran = join(daemon.dataDir, "ran")
  const evil = join(root, "evil.sh")
  writeFileSync(evil, `#!/bin/sh\necho "$0 $*" >> ${ran}\ncat\n`, { mode: 0o755 })
  write("a.txt", "one\n")
  write("image.bin", Buffer.from([0, 1, 2]))
  write("signed.txt", "s\n")
  commit("first")
  write(".gitattributes", "* filter=evil diff=evil merge=evil\n")
  git("add", ".gitattributes")
  for (const [key, value] of Object.entries({
    "core.fsmonitor": evil,
    "core.pager": evil,
    "core.editor": evil,
    "core.sshCommand": evil,
    "core.hooksPath": root,
    "core.gitProxy": evil,
    "diff.external": evil,
    "diff.evil.command": evil,
    "diff.evil.textconv": evil,
    "filter.evil.clean": evil,
    "filter.evil.smudge": evil,
    "filter.evil.process": evil,
    "filter.evil.required": "true",
    "merge.evil.driver": evil,
    "gpg.program": evil,
    "log.showSignature": "true",
    "credential.helper": `!${evil}`,
    "alias.diff": `!${evil}`,
    "remote.origin.url": `ext::${evil}`,
    "remote.origin.promisor": "true",
    "remote.origin.partialclonefilter": "blob:none",
    "extensions.partialClone": "origin",
    "protocol.ext.allow": "always",
    "include.path": join(root, "more.config"),
  }))
    git("config", key, value)
  writeFileSync(join(root, "more.config"), `[diff]\n\texternal = ${evil}\n`)
  for (const hook of ["post-index-change", "fsmonitor-watchman", "pre-commit", "reference-transaction"]) {
    for (const folder of [root, join(root, ".git/hooks")]) {
      mkdirSync(folder, { recursive: true })
      writeFileSync(join(folder, hook), readFileSync(evil), { mode: 0o755 })
    }
  }
  writeFileSync(join(root, "a.txt"), "two\n")
  writeFileSync(join(root, "image.bin"), Buffer.from([0, 1, 2, 3]))
  // A missing object would be fetched from the promised remote.
  const blob = git("rev-parse", "HEAD:signed.txt")
  rmSync(join(root, ".git/objects", blob.slice(0, 2), blob.slice(2)), { force: true })
  rmSync(ran, { force: true })

  const now = await changes()
  expect(now.unstaged.map(({ path }) => path)).toEqual(expect.arrayContaining(["a.txt", "image.bin"]))
  expect((await diff("a.txt", "unstaged")).diff).toContain("-one\n+two\n")
  await diff(".gitattributes", "staged")
  await diff("a.txt", now.commits[0]?.id ?? "")
  await calls.diff("signed.txt", now.commits[0]?.id ?? "")
  expect(existsSync(ran)).toBe(false)
})

test("a code task's commits are those since its branch was made, also when other branches have them", async () => {
  const source = join(daemon.dataDir, `source${count}`)
  mkdirSync(source)
  const inSource = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=T", "-c", "user.email=t@example.com", ...args], { cwd: source, encoding: "utf8" }).trim()
  inSource("init", "-q", "-b", "main")
  inSource("commit", "-q", "--allow-empty", "-m", "before the task")
  id = `${id}w`
  root = join(daemon.dataDir, "workspaces", id)
  const spec = { kind: "worktree", path: root, repository: source, mirror: null, branch: "rewake/task-1-x" }
  await daemon.putSession(id, spec)
  calls = fileCalls(daemon, id)
  expect((await changes()).commits).toEqual([])
  write("work.txt", "work\n")
  commit("the task's work")
  git("branch", "backup")
  inSource("commit", "-q", "--allow-empty", "-m", "meanwhile on main")
  const now = await changes()
  expect(now.branch).toBe("rewake/task-1-x")
  expect(now.commits.map(({ subject }) => subject)).toEqual(["the task's work"])
  rmSync(join(source, ".git/logs"), { recursive: true })
  git("branch", "-D", "backup")
  expect((await changes()).commits.map(({ subject }) => subject)).toEqual(["the task's work"])
})

test("a workspace that is no repository any more says so, and its files stay readable", async () => {
  write("a.txt", "still here")
  rmSync(join(root, ".git"), { recursive: true })
  expect((await calls.changes()).body.code).toBe("NO_REPOSITORY")
  expect((await calls.get("a.txt")).bytes.toString()).toBe("still here")
  rmSync(root, { recursive: true })
  expect((await calls.changes()).body.code).toBe("WORKSPACE_MISSING")
  expect((await calls.list("")).body.code).toBe("WORKSPACE_MISSING")
})

describe("the watch", () => {
  /** Counts the lines that say something changed. */
  async function watch() {
    const headers = { authorization: `Bearer ${daemon.file.secret}` }
    let said = 0
    let waiting: (() => void)[] = []
    const response = await new Promise<http.IncomingMessage>((resolve) =>
      http.get(`${daemon.file.endpoint}/sessions/${id}/watch`, { headers, agent: false }, resolve),
    )
    await new Promise((resolve) => response.once("data", resolve))
    response.on("data", (chunk: Buffer) => {
      said += chunk.toString().split("\n").filter(Boolean).length
      for (const resolve of waiting) resolve()
      waiting = []
    })
    const next = async (what: string, act: () => void) => {
      const before = said
      act()
      await Promise.race([
        new Promise<void>((resolve) => waiting.push(resolve)),
        new Promise((_, reject) => setTimeout(() => reject(new Error(`nothing was said of ${what}`)), 10_000)),
      ])
      return said - before
    }
    return { next, said: () => said, close: () => response.destroy() }
  }

  test("tells of writes, new folders and what is in them, renames, deletions, staging and commits", async () => {
    write("a.txt", "a\n")
    write("deep/er/b.txt", "b\n")
    commit("first")
    const watching = await watch()
    await watching.next("a write", () => write("a.txt", "changed\n"))
    await watching.next("a write further down", () => write("deep/er/b.txt", "changed\n"))
    await watching.next("a new folder", () => write("fresh/one/two.txt", "x\n"))
    await watching.next("a write in the new folder", () => write("fresh/one/two.txt", "y\n"))
    await watching.next("a renamed folder", () => renameSync(join(root, "fresh"), join(root, "moved")))
    await watching.next("a write in the renamed folder", () => write("moved/one/two.txt", "z\n"))
    await watching.next("a deletion", () => rmSync(join(root, "deep"), { recursive: true }))
    await watching.next("staging", () => git("add", "-A"))
    await watching.next("a commit", () => git("commit", "-q", "-m", "second"))
    await watching.next("a reset that touches no file", () => git("reset", "-q", "--soft", "HEAD~1"))
    watching.close()
  })

  test("says nothing of git's other files and of node_modules, nor of being looked at; a burst is told once", async () => {
    write("node_modules/x/index.js", "1")
    write("a.txt", "a\n")
    commit("first")
    const watching = await watch()
    write("node_modules/x/index.js", "2")
    writeFileSync(join(root, ".git/COMMIT_EDITMSG"), "thinking")
    await changes()
    await diff("a.txt", "unstaged")
    const told = await watching.next("the burst", () => {
      for (let i = 0; i < 200; i++) write("a.txt", `${i}\n`)
    })
    expect([told, watching.said()]).toEqual([1, 1])
    watching.close()
  })
})

import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import type { ArchiveState } from "../../../lib/contracts/agentctl/archive"
import type { ManifestLine } from "../../../server/agentctl/archive/archive-format"
import { listArchive, readArchivedFile } from "../../../server/agentctl/archive/read-archive"
import { git, packed, putRestore, restored, snapshot } from "../../support/archives"
import { FORMAT_1_ARCHIVE } from "../../support/format-1-archive"
import { useDaemon } from "../../support/use-daemon"

const daemon = useDaemon()
const LIMIT = 2 ** 31

async function workspace() {
  const path = (await daemon.putSession("sess_a")).workspace_path
  return { path, spec: { kind: "folder" as const, path } }
}
/** Packs, deletes and restores the session's workspace. */
async function there(path: string) {
  const archive = await packed(daemon, "sess_a", "arc_1")
  expect(archive).toMatchObject({ state: "packed", error: null })
  await daemon.call("DELETE", "/sessions/sess_a?generation=1")
  const back = await restored(daemon, "sess_a", "arc_1", putRestore({ kind: "folder", path }, archive))
  expect(back).toMatchObject({ state: "restored", error: null })
  return { archive, back }
}
async function listed(file: string) {
  const lines: ManifestLine[] = []
  const end = await listArchive(file, LIMIT, (line) => lines.push(line))
  return { end, lines, named: Object.fromEntries(lines.map((line) => [line.p as string, line])) }
}
async function contentOf(file: string, name: string): Promise<string | null> {
  const chunks: Buffer[] = []
  const line = await readArchivedFile(file, Buffer.from(name), LIMIT, (bytes) => chunks.push(Buffer.from(bytes)))
  return line && Buffer.concat(chunks).toString("utf8")
}

test("an archive of format 1 still restores, and says what it left out", async () => {
  const path = join(daemon.dataDir, "workspaces/sess_old")
  const file = join(daemon.dataDir, "arc_old.tar.zst")
  writeFileSync(file, FORMAT_1_ARCHIVE)
  const sha256 = createHash("sha256").update(FORMAT_1_ARCHIVE).digest("hex")
  const archive = { path: file, sha256, archive_bytes: FORMAT_1_ARCHIVE.length } as ArchiveState
  const agent_files = [{ path: join(daemon.dataDir, "talk.jsonl"), as: "talk.jsonl" }]
  const back = await restored(daemon, "sess_old", "arc_old", putRestore({ kind: "folder", path }, archive, { agent_files }))
  expect(back).toMatchObject({ state: "restored", files: 7, agent_session_id: "agent-7" })
  expect(back.left_out).toEqual([{ reason: "outward_link", count: 1, bytes: null, names: [{ path: "outward", files: null }] }])
  expect(Object.keys(snapshot(path)).sort()).toEqual([".gitignore", "changed.txt", "kept.txt", "link", "staged.txt", "untracked.txt"])
  expect(statSync(join(path, "untracked.txt"))).toMatchObject({ mode: 0o100600, mtimeMs: 1_767_322_000_500 })
  expect(git(path, "status", "--porcelain")).toBe(" M changed.txt\nA  module\nA  staged.txt\n?? link\n?? untracked.txt\n")
  expect(git(path, "log", "--format=%s")).toBe("base\nStart of the workspace\n")
  expect(readFileSync(join(daemon.dataDir, "talk.jsonl"), "utf8")).toContain("heron")

  const { named } = await listed(file)
  expect(named["workspace/untracked.txt"]).toMatchObject({ size: 10, mode: 0o600 })
  expect(await contentOf(file, "workspace/changed.txt")).toBe("after\n")
})

test("empty folders come back with their modes and times, wherever they are", async () => {
  const { path } = await workspace()
  for (const name of ["empty", "a/b/deep", "tracked/beside", "closed", "new/with file/beside"])
    mkdirSync(join(path, name), { recursive: true })
  writeFileSync(join(path, "tracked/file"), "x")
  git(path, "add", ".")
  git(path, "commit", "-qm", "tracked")
  writeFileSync(join(path, "new/with file/file"), "x")
  writeFileSync(join(path, ".gitignore"), "ignored/\n")
  mkdirSync(join(path, "ignored/empty"), { recursive: true })
  writeFileSync(join(path, "ignored/file"), "x")
  mkdirSync(join(path, "nested/empty"), { recursive: true })
  git(join(path, "nested"), "init", "-q")
  chmodSync(join(path, "closed"), 0o500)
  utimesSync(join(path, "empty"), 1_000_000, 1_000_000)
  await there(path)
  for (const name of ["empty", "a/b/deep", "tracked/beside", "new/with file/beside", "nested/empty"])
    expect(statSync(join(path, name)).isDirectory(), name).toBe(true)
  expect(statSync(join(path, "closed")).mode & 0o777).toBe(0o500)
  expect(statSync(join(path, "empty")).mtimeMs).toBe(1_000_000_000)
  expect(statSync(join(path, "ignored"), { throwIfNoEntry: false })).toBeUndefined()
})

test("what is left out is counted by reason, with the first names; before the restore and after it", async () => {
  const { path } = await workspace()
  writeFileSync(join(path, ".gitignore"), "node_modules/\n*.log\n")
  for (const name of ["a", "b/c"]) mkdirSync(join(path, "node_modules", name), { recursive: true })
  for (const name of ["a/x.js", "b/c/y.js", "b/z.js"]) writeFileSync(join(path, "node_modules", name), "12345")
  for (let i = 0; i < 20; i++) writeFileSync(join(path, `${i}.log`), "1")
  writeFileSync(join(path, "evil\n\u202e\x1b[31m.log"), "1")
  symlinkSync("/etc/hostname", join(path, "outward"))
  git(path, "remote", "add", "origin", "https://example.com/x.git")
  writeFileSync(join(path, ".git/hooks/pre-commit"), "#!/bin/sh\n", { mode: 0o755 })
  const { archive, back } = await there(path)
  expect(back.left_out).toEqual(archive.left_out)
  const [ignored, outward, settings, ...rest] = archive.left_out ?? []
  expect(rest).toEqual([])
  expect(ignored).toMatchObject({ reason: "ignored", count: 22, bytes: 36 })
  expect(ignored?.names).toHaveLength(8)
  expect(outward).toMatchObject({ reason: "outward_link", count: 1, names: [{ path: "outward" }] })
  expect(settings).toMatchObject({ reason: "git_settings", names: [{ path: ".git/config" }, { path: ".git/hooks/pre-commit" }] })
  for (const name of ["node_modules", ...Array.from({ length: 20 }, (_, i) => `${i}.log`)])
    rmSync(join(path, name), { recursive: true, force: true })
})

test("a folder that is ignored counts once, with its files; names hold no control characters and are cut", async () => {
  const { path } = await workspace()
  writeFileSync(join(path, ".gitignore"), "node_modules/\nout/\n*.tmp\n")
  mkdirSync(join(path, "node_modules/a"), { recursive: true })
  writeFileSync(join(path, "node_modules/a/x.js"), "12345")
  writeFileSync(join(path, "node_modules/y.js"), "12345")
  writeFileSync(join(path, "evil\n\u202e\x1b[31m.tmp"), "1")
  const long = join("out", "d".repeat(200), "e".repeat(200))
  mkdirSync(join(path, "src", long), { recursive: true })
  writeFileSync(join(path, "src", long, "x"), "1")
  mkdirSync(join(path, "f".repeat(200)))
  writeFileSync(join(path, `${"f".repeat(200)}/x.tmp`), "1")
  const { left_out } = await packed(daemon, "sess_a", "arc_1")
  const names = left_out?.[0]?.names ?? []
  expect(names).toContainEqual({ path: "node_modules/", files: 2 })
  expect(names).toContainEqual({ path: "evil\\n\\u202e\\u001b[31m.tmp", files: null })
  expect(names).toContainEqual({ path: "src/", files: 1 })
  expect(names).toContainEqual({ path: expect.stringMatching(/^f{79}…f+\/$/), files: 1 })
  expect(left_out).toMatchObject([{ reason: "ignored", count: 4, bytes: 13 }])
})

test("a file whose name every reader refuses is left out by name; the rest is archived and restores", async () => {
  const { path } = await workspace()
  mkdirSync(join(path, "sub/.GIT/empty"), { recursive: true })
  writeFileSync(join(path, "sub/.GIT/config"), "[core]\n")
  writeFileSync(join(path, "kept"), "kept")
  const { back } = await there(path)
  expect(back).toMatchObject({ files: 1, left_out: [{ reason: "refused_name", count: 2 }] })
  expect(readFileSync(join(path, "kept"), "utf8")).toBe("kept")
})

test("the entries of an archive are listed, and one file read, without unpacking it", async () => {
  const { path } = await workspace()
  for (const name of ["same", "changed", "conflicted"]) writeFileSync(join(path, name), `${name}\n`)
  git(path, "add", ".")
  git(path, "commit", "-qm", "base")
  git(path, "checkout", "-qb", "other")
  writeFileSync(join(path, "conflicted"), "theirs\n")
  git(path, "commit", "-qam", "theirs")
  git(path, "checkout", "-q", "main")
  writeFileSync(join(path, "conflicted"), "ours\n")
  git(path, "commit", "-qam", "ours")
  expect(() => git(path, "merge", "-q", "other")).toThrow()
  writeFileSync(join(path, "changed"), "differently\n", { mode: 0o600 })
  writeFileSync(join(path, "new"), "n".repeat(600_000))
  utimesSync(join(path, "new"), 1_000_000, 1_000_000)
  mkdirSync(join(path, "empty"), { mode: 0o700 })
  symlinkSync("same", join(path, "link"))
  const archive = await packed(daemon, "sess_a", "arc_1")
  const file = archive.path as string
  const { named, end } = await listed(file)
  expect(end).toMatchObject({ files: archive.files, left_out: archive.left_out })
  expect(named["workspace/same"]).toMatchObject({ size: 5, git: "unchanged" })
  expect(named["workspace/changed"]).toMatchObject({ size: 12, git: "modified" })
  expect(named["workspace/conflicted"]).toMatchObject({ git: "modified" })
  expect(named["workspace/new"]).toMatchObject({ size: 600_000, mode: 0o644, mtime: 1e12, git: "untracked" })
  expect(named["workspace/new"]).toHaveProperty("sha256", createHash("sha256").update("n".repeat(600_000)).digest("hex"))
  expect(named["workspace/link"]).toMatchObject({ link: "same", git: "untracked" })
  expect(named["workspace/empty"]).toMatchObject({ folder: true, mode: 0o700 })
  expect(named["git/0/index"]).not.toHaveProperty("git")

  expect(await contentOf(file, "workspace/changed")).toBe("differently\n")
  expect(await contentOf(file, "workspace/new")).toBe("n".repeat(600_000))
  expect(await contentOf(file, "workspace/missing")).toBeNull()
  await expect(listArchive(file, 1000, () => undefined)).rejects.toMatchObject({ code: "ARCHIVE_HOSTILE" })
})

test("a list is read though the content is damaged; a file that is damaged is not taken for the archived one", async () => {
  const { path } = await workspace()
  writeFileSync(join(path, "random"), execFileSync("head", ["-c", "300000", "/dev/urandom"]))
  const file = (await packed(daemon, "sess_a", "arc_1")).path as string
  const damaged = join(daemon.dataDir, "damaged.tar.zst")
  copyFileSync(file, damaged)
  const bytes = readFileSync(file)
  bytes.fill(7, 150_000, 150_100)
  writeFileSync(damaged, bytes)
  expect((await listed(damaged)).lines).toEqual((await listed(file)).lines)
  await expect(contentOf(damaged, "workspace/random")).rejects.toMatchObject({ code: "ARCHIVE_BROKEN" })
  truncateSync(damaged, bytes.length - 20)
  await expect(listed(damaged)).rejects.toMatchObject({ code: "ARCHIVE_BROKEN" })
})

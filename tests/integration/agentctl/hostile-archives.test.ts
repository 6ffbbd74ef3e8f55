import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { beforeAll, expect, test } from "vitest"
import type { ArchiveState } from "../../../lib/contracts/agentctl/archive"
import { putRestore, restored } from "../../support/archives"
import { type Entry, head, manifest, pax, tar, whole, whole2 } from "../../support/hostile-archives"
import { useDaemon } from "../../support/use-daemon"

let count = 0

const daemon = useDaemon({ per: "file" })
beforeAll(() => {
  mkdirSync(join(daemon.dataDir, "outside"))
  writeFileSync(join(daemon.dataDir, "outside/victim"), "untouched")
})

async function attempt(bytes: Buffer, change: { max_bytes?: number } = {}) {
  const id = `sess_h${++count}`
  const path = join(daemon.dataDir, "workspaces", id)
  const file = join(daemon.dataDir, `${id}.tar.gz`)
  writeFileSync(file, bytes)
  const archive = { path: file, sha256: createHash("sha256").update(bytes).digest("hex"), archive_bytes: bytes.length } as ArchiveState
  const state = await restored(daemon, id, "arc_h", putRestore({ kind: "folder", path }, archive, change))
  return { path, state }
}
async function refused(bytes: Buffer, code: string, change: { max_bytes?: number } = {}) {
  const { path, state } = await attempt(bytes, change)
  expect(state).toMatchObject({ state: "failed", error: { code } })
  expect(existsSync(path)).toBe(false)
  expect(existsSync(`${path}.restoring`)).toBe(false)
  expect(readdirSync(join(daemon.dataDir, "outside"))).toEqual(["victim"])
  expect(readFileSync(join(daemon.dataDir, "outside/victim"), "utf8")).toBe("untouched")
  expect(existsSync("/tmp/rewake-hostile")).toBe(false)
}

test("the corpus' own honest archive is accepted", async () => {
  const { path, state } = await attempt(
    whole([
      { name: "workspace/dir/file", content: "hello", mode: 0o755 },
      { name: "workspace/link", type: "2", target: "dir/file" },
      { name: "x", pax: pax("path", "workspace/by-long-name"), content: "long" },
    ]),
  )
  expect(state).toMatchObject({ state: "restored", files: 3 })
  expect(readFileSync(join(path, "link"), "utf8")).toBe("hello")
  expect(readFileSync(join(path, "by-long-name"), "utf8")).toBe("long")
})

const file = (name: string, more: Partial<Entry> = {}): Entry => ({ name, content: "evil", ...more })
const link = (name: string, target: string): Entry => ({ name, type: "2", target })

const HOSTILE: [string, Entry[]][] = [
  ["a name that climbs out", [file("workspace/../../outside/new")]],
  ["a name that climbs out of the top", [file("../outside/new")]],
  ["an absolute name", [file("/tmp/rewake-hostile")]],
  ["an absolute name in a long header", [file("x", { pax: pax("path", "/tmp/rewake-hostile") })]],
  ["a climbing name in a long header", [file("x", { pax: pax("path", "workspace/../../outside/new") })]],
  ["a name with an empty part", [file("workspace//x")]],
  ["a link to an absolute place", [link("workspace/l", "/etc/passwd")]],
  ["a link that climbs out", [link("workspace/a/l", "../../outside/victim")]],
  [
    "a chain of links that climbs out",
    [file("workspace/a/b/c/f"), link("workspace/a/b/c/up", "../../.."), link("workspace/a/b/c/l", "up/../x")],
  ],
  ["links that go round for ever", [link("workspace/a", "b"), link("workspace/b", "a")]],
  ["a link, then a file through it", [link("workspace/l", "/tmp"), file("workspace/l/rewake-hostile")]],
  ["an inner link, then a file through it", [file("workspace/d/f"), link("workspace/l", "d"), file("workspace/l/g")]],
  ["a hard link", [{ name: "workspace/h", type: "1", target: "../outside/victim" }]],
  ["a character device", [{ name: "workspace/d", type: "3" }]],
  ["a block device", [{ name: "workspace/d", type: "4" }]],
  ["a fifo", [{ name: "workspace/f", type: "6" }]],
  ["a global header", [{ name: "g", type: "g", content: "13 path=evil\n" }, file("workspace/x")]],
  ["a setuid bit", [file("workspace/x", { mode: 0o4755 })]],
  ["a sticky bit", [file("workspace/x", { mode: 0o1755 })]],
  ["the same name twice", [file("workspace/x"), file("workspace/x")]],
  ["a file and a folder of one name", [file("workspace/x"), file("workspace/x/y")]],
  ["a link in a file's place", [file("workspace/x"), link("workspace/x", "y")]],
  ["a hook of git's", [file("workspace/.git/hooks/post-checkout", { mode: 0o755 })]],
  ["git's configuration in other letters", [file("workspace/sub/.GIT/config")]],
  ["a link in .git's place", [link("workspace/.git", "x")]],
  ["something beside the known folders", [file("elsewhere/x")]],
  ["a file of git's state nobody knows", [file("git/0/hooks")]],
  ["a link among the agent's files", [link("agent/x", "y")]],
  ["a link with content", [{ ...link("workspace/l", "x"), content: "body" }]],
  ["a second head", [head()]],
]
test.each(HOSTILE)("%s is refused", (_, entries) => refused(whole(entries), "ARCHIVE_HOSTILE"))

const folder = (name: string, mode = 0o755): Entry => ({ name, type: "5", mode })
const CHANGES = { name: "changes.json", content: "{}" }

test("an honest archive of format 2 is accepted, with its empty folders", async () => {
  const { path, state } = await attempt(whole2([CHANGES, file("workspace/x"), folder("workspace/a/empty", 0o700)]))
  expect(state).toMatchObject({ state: "restored", files: 1 })
  expect(statSync(join(path, "a/empty")).mode & 0o7777).toBe(0o700)
})

test.each(HOSTILE.filter(([what]) => what !== "a second head"))("in format 2, %s is refused", (_, entries) =>
  refused(whole2(entries), "ARCHIVE_HOSTILE"),
)

const HOSTILE_2: [string, Buffer][] = [
  ["a file in a folder said to be empty", whole2([folder("workspace/a"), file("workspace/a/x")])],
  ["an empty folder in a file's place", whole2([file("workspace/a"), folder("workspace/a")])],
  ["the same empty folder twice", whole2([folder("workspace/a"), folder("workspace/a")])],
  ["a link through an empty folder", whole2([folder("workspace/a"), link("workspace/a/l", "x")])],
  ["a folder with a sticky bit", whole2([folder("workspace/a", 0o1777)])],
  ["a folder outside of the workspace", whole2([folder("agent/a")])],
  ["a folder of a terminal", whole2([file("terminals/wrk_1/screen")])],
  ["a terminal's output of more than is kept", whole2([file("terminals/wrk_1", { content: Buffer.alloc(16 * 1024 * 1024) })])],
  ["a terminal of another kind of id", whole2([file("terminals/../output")])],
  ["changes of more than is read at once", whole2([{ ...CHANGES, content: Buffer.alloc(13 * 1024 * 1024, "x") }])],
  ["an entry after the manifest", whole2([file("workspace/x")], { more: [file("workspace/y")] })],
  ["a list that is another than the manifest", whole2([file("workspace/x")], { manifestAt: 0 })],
  ["format 2's records in format 1", whole([CHANGES])],
]
test.each(HOSTILE_2)("%s is refused", (_, bytes) => refused(bytes, "ARCHIVE_HOSTILE"))

test("in format 2, a manifest that is not true, has more than it may, or is not where it should be is broken", async () => {
  const entries = [file("workspace/x")]
  await refused(whole2(entries, { listed: [file("workspace/x", { content: "good" })] }), "ARCHIVE_BROKEN")
  await refused(whole2(entries, { listed: [file("workspace/x", { mode: 0o600 })] }), "ARCHIVE_BROKEN")
  await refused(whole2([folder("workspace/a")], { listed: [folder("workspace/a", 0o700)] }), "ARCHIVE_BROKEN")
  await refused(whole2(entries, { end: { left_out_total: 0 } }), "ARCHIVE_BROKEN")
  const group = { reason: "ignored", count: 1, bytes: null, names: [{ path: "x".repeat(500), files: null }] }
  await refused(whole2(entries, { end: { left_out: [group] } }), "ARCHIVE_BROKEN")
  const size = '{"type":"terminal","cols":100000,"rows":30,"title":null,"first":0,"sizes":[]}'
  for (const content of ["no line", "x".repeat(100_000), `${size}\n`])
    await refused(whole2([file("terminals/wrk_1", { content })]), "ARCHIVE_BROKEN")
  await refused(whole2(entries, { manifestAt: 1 }), "ARCHIVE_BROKEN")
  await refused(whole2(entries).subarray(0, -1), "ARCHIVE_BROKEN")
  const all = [head({ format: 2 }), ...entries]
  await refused(gzipSync(tar([...all, manifest(all, 2)])), "ARCHIVE_BROKEN")
})

test("a repository's path, a ref or an object's name that leads elsewhere is refused", async () => {
  const state = (change: object) =>
    JSON.stringify({
      ...{ path: "", object_format: "sha1", head: { ref: "refs/heads/main", oid: null }, refs: [], stash: [], pseudo: [], message: null },
      ...{ has_pack: false, ...change },
    })
  const git = (change: object) => whole([file("workspace/x"), { name: "git/0/state.json", content: state(change) }])
  expect((await attempt(git({}))).state.state).toBe("restored")
  await refused(git({ path: "../../outside" }), "ARCHIVE_HOSTILE")
  await refused(git({ path: "a/.git" }), "ARCHIVE_HOSTILE")
  await refused(git({ head: { ref: "../../x", oid: null } }), "ARCHIVE_HOSTILE")
  await refused(git({ head: { ref: null, oid: "--upload-pack=evil" } }), "ARCHIVE_HOSTILE")
  await refused(git({ pseudo: [{ name: "MERGE_HEAD", content: "evil" }] }), "ARCHIVE_HOSTILE")
  await refused(git({ refs: [{ name: "refs/heads/../../config", oid: "0".repeat(39).padStart(40, "1") }] }), "WORKSPACE_FAILED")
  const index = `100644 ${"1".repeat(40)} 0\t.git/hooks/post-checkout\0`
  const { path } = await attempt(
    whole([
      { name: "git/0/state.json", content: state({}) },
      { name: "git/0/index", content: index },
    ]),
  )
  // git itself leaves out a path it would never check out.
  expect(execFileSync("git", ["ls-files"], { cwd: path, encoding: "utf8" })).toBe("")
})

test("a bomb is stopped by its size and by its number of files, long before it is unpacked", async () => {
  const entries = [head(), { name: "workspace/zeros", content: Buffer.alloc(40_000_000) }]
  await refused(gzipSync(tar([...entries, manifest(entries)])), "ARCHIVE_HOSTILE", { max_bytes: 1_000_000 })
  await refused(gzipSync(tar([head(), { name: "workspace/x", size: 8 ** 11 - 1 }])), "ARCHIVE_HOSTILE")
  const nested = Buffer.concat([tar([head()], Buffer.alloc(0)), ...Array.from({ length: 60 }, () => Buffer.alloc(512 * 1024))])
  await refused(gzipSync(nested), "ARCHIVE_BROKEN")
})

test("what is broken is told as broken: cut short, without an end, without or against its manifest, no archive at all", async () => {
  const entries = [head(), file("workspace/x")]
  const honest = whole([file("workspace/x")])
  await refused(honest.subarray(0, -20), "ARCHIVE_BROKEN")
  await refused(gzipSync(tar([...entries, manifest(entries)], Buffer.alloc(0))), "ARCHIVE_BROKEN")
  await refused(gzipSync(tar([...entries, manifest(entries)]).subarray(0, 1300)), "ARCHIVE_BROKEN")
  await refused(gzipSync(tar(entries)), "ARCHIVE_BROKEN")
  await refused(gzipSync(tar([file("workspace/x"), manifest([file("workspace/x")])])), "ARCHIVE_BROKEN")
  await refused(gzipSync(tar([...entries, manifest([head(), file("workspace/x", { content: "good" })])])), "ARCHIVE_BROKEN")
  await refused(gzipSync(tar([...entries, manifest([head(), file("workspace/x"), file("workspace/y")])])), "ARCHIVE_BROKEN")
  await refused(gzipSync(tar([...entries, file("workspace/y"), manifest(entries)])), "ARCHIVE_BROKEN")
  await refused(gzipSync(tar([...entries, manifest(entries), file("workspace/y")])), "ARCHIVE_HOSTILE")
  await refused(gzipSync(tar([...entries, { name: "manifest.jsonl", content: "no manifest" }])), "ARCHIVE_BROKEN")
  await refused(Buffer.from("not an archive at all"), "ARCHIVE_BROKEN")
  await refused(gzipSync(Buffer.alloc(2048, "x")), "ARCHIVE_BROKEN")
  await refused(Buffer.concat([Buffer.from([0x28, 0xb5, 0x2f, 0xfd]), Buffer.alloc(100, 7)]), "ARCHIVE_BROKEN")
  await refused(gzipSync(tar([head({ format: 3 })])), "ARCHIVE_UNSUPPORTED")
})

import { mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { exists, git, gitView, packed, putRestore, restored, snapshot } from "../../support/archives"
import { useDaemon } from "../../support/use-daemon"

const daemon = useDaemon()

/** Work as a person leaves it: everything git can be in the middle of, and names nobody should use. */
function fillWorkspace(path: string): void {
  const write = (name: string, content: string | Buffer, mode = 0o644) =>
    writeFileSync(Buffer.from(`${path}/${name}`, "latin1"), content, { mode })
  writeFileSync(join(path, ".gitignore"), "ignored/\n*.log\n")
  for (const name of [
    "kept.txt",
    "changed.txt",
    "staged.txt",
    "both.txt",
    "deleted.txt",
    "removed.txt",
    "renamed-from.txt",
    "tracked.log",
  ]) {
    write(name, `${name}\n`.repeat(20))
  }
  git(path, "add", "-f", ".")
  git(path, "commit", "-q", "-m", "base")
  git(path, "branch", "side")
  git(path, "tag", "v1")
  write("kept.txt", "stashed")
  git(path, "stash", "push", "-q", "-m", "first stash")
  write("kept.txt", "stashed again")
  git(path, "stash", "push", "-q", "-m", "second stash")
  write("changed.txt", "changed")
  write("staged.txt", "staged")
  git(path, "add", "staged.txt")
  write("both.txt", "one")
  git(path, "add", "both.txt")
  write("both.txt", "two")
  rmSync(join(path, "deleted.txt"))
  git(path, "rm", "-q", "removed.txt")
  git(path, "mv", "renamed-from.txt", "renamed-to.txt")
  write("new.txt", "new and staged")
  git(path, "add", "new.txt")
  write("intent.txt", "promised only")
  git(path, "add", "-N", "intent.txt")
  write("untracked.txt", "untracked")
  write("tracked.log", "ignored by name, tracked all the same")
  mkdirSync(join(path, "ignored"))
  write("ignored/left-behind.txt", "ignored")
  write("run.sh", "#!/bin/sh\n", 0o755)
  git(path, "update-index", "--assume-unchanged", "kept.txt")
  write("empty", "")
  write("-rf", "leading dash")
  write("new\nline", "newline")
  write("caf\xc3\xa9", "composed")
  write("cafe\xcc\x81", "decomposed")
  write("not\xff\xfeutf8", "bytes")
  mkdirSync(join(path, "deep", "d".repeat(120), "e".repeat(120)), { recursive: true })
  write(`deep/${"d".repeat(120)}/${"e".repeat(120)}/${"f".repeat(200)}`, "long")
  write("big.bin", Buffer.alloc(3_000_000, "0123456789abcdef"))
  write("read-only", "r", 0o444)
  write("group", "g")
  symlinkSync("kept.txt", join(path, "link"))
  symlinkSync("nowhere/at/all", join(path, "dangling"))
  symlinkSync("../kept.txt", join(path, "deep", "up"))
  utimesSync(join(path, "untracked.txt"), 1_000_000.123456, 1_000_000.123456)
}

test("a folder workspace comes back byte for byte, with its git state, modes, times, links and odd names", async () => {
  const path = join(daemon.dataDir, "workspaces/sess_a")
  const spec = { kind: "folder" as const, path }
  await daemon.putSession("sess_a")
  fillWorkspace(path)
  git(path, "status")
  const before = { files: snapshot(path), git: gitView(path) }
  const { "ignored/left-behind.txt": _, ...expected } = before.files

  const archive = await packed(daemon, "sess_a", "arc_1", { agent_session_id: "agent-7" })
  expect(archive).toMatchObject({ state: "packed", error: null })
  expect(archive.left_out).toEqual([{ reason: "ignored", count: 1, bytes: 7, names: [{ path: "ignored/", files: 1 }] }])
  expect(archive.files).toBe(Object.keys(expected).length)
  expect(archive.path).toBe(join(daemon.dataDir, "archives/arc_1.tar.zst"))
  expect(await packed(daemon, "sess_a", "arc_1")).toEqual(archive)

  expect((await daemon.call("DELETE", "/sessions/sess_a?generation=1")).body).toEqual({ deleted: true, workspace_discarded: true })
  expect(exists(path)).toBe(false)
  const back = await restored(daemon, "sess_a", "arc_1", putRestore(spec, archive))
  expect(back).toMatchObject({ state: "restored", error: null, agent_session_id: "agent-7", files: archive.files, notes: [] })
  expect(snapshot(path)).toEqual(expected)
  expect(gitView(path)).toEqual(before.git)
  expect(git(path, "fsck", "--strict")).toBe("")
  expect(exists(`${path}.restoring`)).toBe(false)

  expect(await daemon.describe("sess_a")).toMatchObject({ workspace_path: path })
  expect(await restored(daemon, "sess_a", "arc_1", putRestore(spec, archive))).toMatchObject({ state: "restored" })
})

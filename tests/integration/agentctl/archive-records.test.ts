import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { RecordedChanges } from "../../../lib/contracts/agentctl/archive"
import type { Changes, FileDiff } from "../../../lib/contracts/workspace"
import { readArchivedFile } from "../../../server/agentctl/archive/read-archive"
import { git, packed, putRestore, restored } from "../../support/archives"
import { history, PtyStream, ptyState, putPty, type } from "../../support/ptys"
import { useDaemon } from "../../support/use-daemon"

const daemon = useDaemon()

async function recordOf(file: string): Promise<RecordedChanges> {
  const chunks: Buffer[] = []
  await readArchivedFile(file, Buffer.from("changes.json"), 2 ** 31, (bytes) => chunks.push(Buffer.from(bytes)))
  return RecordedChanges.parse(JSON.parse(Buffer.concat(chunks).toString("utf8")))
}
async function moveAway(path: string, archiveId = "arc_1") {
  const archive = await packed(daemon, "sess_a", archiveId)
  expect(archive).toMatchObject({ state: "packed", error: null })
  await daemon.call("DELETE", "/sessions/sess_a?generation=1")
  return { archive, comeBack: () => restored(daemon, "sess_a", archiveId, putRestore({ kind: "folder", path }, archive)) }
}

test("the changes are in the archive as pages showed them, with the diffs of those that are short", async () => {
  const path = (await daemon.putSession("sess_a")).workspace_path
  writeFileSync(join(path, "committed.txt"), "committed\n")
  git(path, "add", ".")
  git(path, "commit", "-qm", "by the agent")
  writeFileSync(join(path, "staged.txt"), "staged\n")
  git(path, "add", "staged.txt")
  writeFileSync(join(path, "committed.txt"), "changed since\n")
  writeFileSync(join(path, "untracked.txt"), "untracked\n")
  writeFileSync(join(path, "large.txt"), "large\n".repeat(100_000))
  const shown = (await daemon.call<Changes>("GET", "/sessions/sess_a/git/changes")).body
  const diffOf = (name: string, of: string) =>
    daemon.call<FileDiff>("GET", `/sessions/sess_a/git/diff?path=${name}&of=${of}`).then(({ body }) => body.diff)
  const diffs = {
    committed: await diffOf("committed.txt", shown.commits[0]?.id ?? ""),
    staged: await diffOf("staged.txt", "staged"),
    unstaged: await diffOf("committed.txt", "unstaged"),
    untracked: await diffOf("untracked.txt", "untracked"),
  }

  const { archive } = await moveAway(path)
  const record = await recordOf(archive.path as string)
  expect(record.changes).toEqual(shown)
  const recorded = (name: string, of: string) => record.diffs.find((diff) => diff.path === name && diff.of === of)
  expect(recorded("committed.txt", shown.commits[0]?.id ?? "")?.diff).toBe(diffs.committed)
  expect(recorded("staged.txt", "staged")?.diff).toBe(diffs.staged)
  expect(recorded("committed.txt", "unstaged")?.diff).toBe(diffs.unstaged)
  expect(recorded("untracked.txt", "untracked")?.diff).toBe(diffs.untracked)
  expect(recorded("large.txt", "untracked")).toMatchObject({ diff: null, bytes: expect.any(Number) })
})

test("changes without number are recorded up to a limit, and the archive is made", async () => {
  const path = (await daemon.putSession("sess_a")).workspace_path
  const folder = "d".repeat(200)
  mkdirSync(join(path, folder))
  for (let i = 0; i < 1200; i++) writeFileSync(join(path, folder, `${i}.txt`), `${i}\n`.repeat(2000))
  const { archive } = await moveAway(path)
  expect(archive.files).toBe(1200)
  const { changes, diffs } = await recordOf(archive.path as string)
  expect(changes).toMatchObject({ truncated: true })
  expect(changes.untracked.length).toBeLessThanOrEqual(1000)
  expect(diffs.length).toBeLessThanOrEqual(200)
})

test("a workspace that is no repository any more is archived without changes", async () => {
  const path = (await daemon.putSession("sess_a")).workspace_path
  rmSync(join(path, ".git"), { recursive: true })
  writeFileSync(join(path, "file"), "content")
  const { archive, comeBack } = await moveAway(path)
  expect(await readArchivedFile(archive.path as string, Buffer.from("changes.json"), 2 ** 31, () => undefined)).toBeNull()
  expect(await comeBack()).toMatchObject({ state: "restored" })
})

test("what a terminal showed survives an archive, and stands above the divider of its next process", async () => {
  const path = (await daemon.putSession("sess_a")).workspace_path
  const { epoch } = (await putPty(daemon, "sess_a", "wrk_1", { cols: 100, rows: 30 })).body
  const before = new PtyStream(daemon, "sess_a", "wrk_1")
  await before.until("ready> ")
  await type(daemon, "sess_a", "wrk_1", epoch, "seq 1 300000; echo over | tr o O\n")
  await before.until("Over")
  await type(daemon, "sess_a", "wrk_1", epoch, "exit\n")
  await before.ended
  const { first, head } = await ptyState(daemon, "sess_a", "wrk_1")
  const kept = await allOf(first, head)
  expect(head - first).toBeGreaterThan(2 * 1024 * 1024)
  await putPty(daemon, "sess_a", "wrk_2")

  const { comeBack } = await moveAway(path)
  expect(await comeBack()).toMatchObject({ state: "restored", left_out: [] })
  expect(await ptyState(daemon, "sess_a", "wrk_1")).toMatchObject({ state: "exited", epoch: 0, first, head, cols: 100, rows: 30, lost: [] })
  expect((await allOf(first, head)).equals(kept)).toBe(true)

  expect((await putPty(daemon, "sess_a", "wrk_1", { cols: 100, rows: 30 })).body).toMatchObject({ epoch: 1, restored: false })
  const after = new PtyStream(daemon, "sess_a", "wrk_1", "output?snapshot=1")
  const screen = await after.until("ready> ")
  expect(screen).toMatch(/300000[\s\S]*Over[\s\S]*─── restored \d\d:\d\d, new shell ───[\s\S]*ready> /)
  after.close()
})

async function allOf(first: number, head: number): Promise<Buffer> {
  const parts: Buffer[] = []
  for (let at = head; at > first; ) {
    const { offset, bytes } = await history(daemon, "sess_a", "wrk_1", at, 512 * 1024)
    parts.unshift(bytes)
    at = offset
  }
  return Buffer.concat(parts)
}

test("terminals never make an archive too large: what has no room is named, and the files are there", async () => {
  const path = (await daemon.putSession("sess_a")).workspace_path
  writeFileSync(join(path, "file"), "content")
  await putPty(daemon, "sess_a", "wrk_1")
  const archive = await packed(daemon, "sess_a", "arc_1", { max_bytes: 200_000 })
  expect(archive).toMatchObject({ state: "packed", files: 1 })
  expect(archive.left_out).toMatchObject([{ reason: "terminal_output", count: 1, names: [{ path: "terminals/wrk_1" }] }])
})

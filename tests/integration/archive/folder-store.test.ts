import { randomBytes } from "node:crypto"
import { existsSync, mkdirSync, readdirSync, rmSync, truncateSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import {
  type ArchiveStore,
  createArchiveStore,
  type PackOptions,
  type Progress,
  packToStore,
  restoreFromStore,
} from "../../../server/archive"
import { type AgentctlClient, createAgentctlClient } from "../../../server/executors"
import { snapshot } from "../../support/archives"
import { Daemon, newDataDir } from "../../support/daemon"

let dataDir: string
let daemon: Daemon
let store: ArchiveStore

beforeEach(async () => {
  dataDir = newDataDir()
  daemon = await Daemon.start(dataDir)
  store = createArchiveStore({ kind: "folder", folder: join(dataDir, "archives") })
})
afterEach(async () => {
  await daemon.kill()
  expect(daemon.mistakes()).toEqual([])
  rmSync(dataDir, { recursive: true, force: true })
})

const client = (): AgentctlClient => {
  const { endpoint, secret, instance_id } = daemon.file
  return createAgentctlClient({ url: endpoint, secret, instance_id })
}
const options = (archive_id: string): PackOptions => ({
  ...{ daemon: client(), store, session_id: "sess_s", epoch: 1, archive_id, generation: 1 },
  ...{ agent_session_id: "agent-1", agent_files: [], agent_exports: [], max_bytes: 2 ** 30 },
})
const workspace = () => ({ kind: "folder" as const, path: join(dataDir, "workspaces/sess_s") })

test("an archive in a folder is verified, listed, brought back and removed", async () => {
  await daemon.putSession("sess_s")
  const { path } = workspace()
  for (let i = 0; i < 300; i++) writeFileSync(join(path, `file-${i}`), randomBytes(20_000))
  const before = snapshot(path)
  const seen: Progress[] = []
  const packed = await packToStore({ ...options("arc_s"), progress: (progress) => seen.push({ ...progress }) })
  expect(packed).toMatchObject({ files: 300, left_out: [] })
  expect(seen.at(-1)).toMatchObject({ state: "packed", files: 300, total_files: 300, bytes: 6_000_000 })
  await store.verify(packed)
  expect(await store.list()).toMatchObject([{ archive_id: "arc_s", location: packed.location, bytes: packed.bytes }])
  expect(await packToStore(options("arc_s"))).toEqual(packed)

  await client().removeSession("sess_s", 1, 1)
  const again = { ...options("arc_s"), generation: 2, agent_imports: [], archive: packed, workspace: workspace() }
  expect(await restoreFromStore(again)).toMatchObject({ files: 300, bytes: 6_000_000, agent_session_id: "agent-1" })
  expect(snapshot(path)).toEqual(before)
  expect(await restoreFromStore(again)).toMatchObject({ files: 300 })
  await expect(restoreFromStore({ ...again, archive_id: "arc_other" })).rejects.toMatchObject({ reason: "workspace_exists" })
  expect(snapshot(path)).toEqual(before)

  await store.remove(packed.location)
  await store.remove(packed.location)
  await expect(store.verify(packed)).rejects.toMatchObject({ reason: "archive_missing" })
  expect(await store.list()).toEqual([])
})

test("what is wrong with a stored archive is told apart, and nothing is left of a restore that failed", async () => {
  await daemon.putSession("sess_s")
  const { path } = workspace()
  writeFileSync(join(path, "file"), randomBytes(100_000))
  const packed = await packToStore(options("arc_s"))
  await client().removeSession("sess_s", 1)
  const restore = (location = packed.location, change = {}) =>
    restoreFromStore({
      ...options("arc_s"),
      generation: 2,
      agent_imports: [],
      archive: { ...packed, location, ...change },
      workspace: workspace(),
    })
  await expect(restore(`${packed.location}.gone`)).rejects.toMatchObject({ reason: "archive_missing" })
  await expect(restore(packed.location, { sha256: "0".repeat(64) })).rejects.toMatchObject({ reason: "checksum_mismatch" })
  const file = new URL(packed.location).pathname
  truncateSync(file, packed.bytes - 10)
  await expect(store.verify(packed)).rejects.toMatchObject({ reason: "checksum_mismatch" })
  await expect(restore()).rejects.toMatchObject({ reason: "checksum_mismatch" })
  expect(existsSync(path)).toBe(false)
  expect(readdirSync(join(dataDir, "workspaces"))).toEqual([])
  const lost = createArchiveStore({ kind: "folder", folder: join(dataDir, "not-mounted") })
  const elsewhere = packed.location.replace("/archives/", "/not-mounted/")
  await expect(lost.verify({ ...packed, location: elsewhere })).rejects.toMatchObject({ reason: "store_unreachable" })
})

test("too large, an agent at work, an older generation and a missing workspace are refused by their names", async () => {
  await daemon.ready("sess_s")
  await expect(packToStore(options("arc_s"))).rejects.toMatchObject({ reason: "agent_running" })
  await client().stopAgent("sess_s", 1)
  writeFileSync(join(workspace().path, "large"), randomBytes(50_000))
  await expect(packToStore({ ...options("arc_s"), max_bytes: 40_000 })).rejects.toMatchObject({ reason: "too_large" })
  await client().putSession("sess_s", 1, { generation: 5, workspace: workspace() })
  await expect(packToStore({ ...options("arc_s"), generation: 4 })).rejects.toMatchObject({ reason: "fenced" })
  await expect(client().removeSession("sess_s", 1, 4)).rejects.toMatchObject({ code: "GENERATION_STALE" })
  expect(existsSync(workspace().path)).toBe(true)
  rmSync(workspace().path, { recursive: true })
  await expect(packToStore({ ...options("arc_s"), generation: 5 })).rejects.toMatchObject({ reason: "workspace_missing" })
  expect(readdirSync(join(dataDir, "archives"))).toEqual([])
})

test("what a broken-off packing left in the folder is swept, finished archives are not", async () => {
  mkdirSync(join(dataDir, "archives"))
  writeFileSync(join(dataDir, "archives/arc_x.tar.zst.partial"), "half")
  writeFileSync(join(dataDir, "archives/arc_y.tar.zst"), "whole")
  expect(await store.sweep(60_000)).toBe(0)
  expect(await store.sweep(-1)).toBe(1)
  expect(readdirSync(join(dataDir, "archives"))).toEqual(["arc_y.tar.zst"])
})

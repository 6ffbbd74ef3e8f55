import { randomBytes } from "node:crypto"
import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import {
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
  PutObjectCommand,
  S3Client,
} from "@aws-sdk/client-s3"
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest"
import { startCeph } from "../../../scripts/lib/services/ceph.mjs"
import { type ArchiveStore, type PackOptions, type Progress, packToStore, restoreFromStore } from "../../../server/archive"
import { createS3Store } from "../../../server/archive/s3-store"
import { type AgentctlClient, createAgentctlClient } from "../../../server/executors"
import { snapshot } from "../../support/archives"
import { Daemon, newDataDir } from "../../support/daemon"
import { FaultyProxy } from "../../support/faulty-proxy"
import { waitUntil } from "../../support/wait-until"

/** The smallest a store accepts for any part but the last. */
const PART = 5 * 1024 * 1024
const BUCKET = "rewake-tests"

let ceph: Awaited<ReturnType<typeof startCeph>>
let s3: S3Client
let dataDir: string
let daemon: Daemon
let proxy: FaultyProxy
let before: Record<string, string>
let archiveId: string
let count = 0

beforeAll(async () => {
  ceph = await startCeph()
  const { endpoint, credentials } = ceph
  s3 = new S3Client({ endpoint, credentials, region: "us-east-1", forcePathStyle: true, requestChecksumCalculation: "WHEN_REQUIRED" })
  await s3.send(new CreateBucketCommand({ Bucket: BUCKET }))
}, 120_000)
afterAll(async () => {
  await ceph?.stop()
})
beforeEach(async () => {
  dataDir = newDataDir()
  daemon = await Daemon.start(dataDir)
  proxy = await FaultyProxy.start(ceph.endpoint)
  await daemon.putSession("sess_s")
  for (let i = 0; i < 12; i++) writeFileSync(join(workspace().path, `file-${i}`), randomBytes(1024 * 1024))
  before = snapshot(workspace().path)
  archiveId = `arc_${++count}`
})
afterEach(async () => {
  proxy.stop()
  await daemon.kill()
  expect(daemon.mistakes()).toEqual([])
  rmSync(dataDir, { recursive: true, force: true })
})

const workspace = () => ({ kind: "folder" as const, path: join(dataDir, "workspaces/sess_s") })
const client = (): AgentctlClient => {
  const { endpoint, secret, instance_id } = daemon.file
  return createAgentctlClient({ url: endpoint, secret, instance_id })
}
const newStore = (url_seconds = 900, endpoint = proxy.endpoint): ArchiveStore =>
  createS3Store(
    { kind: "s3", bucket: BUCKET, prefix: "some/prefix", endpoint, region: "us-east-1", credentials: ceph.credentials },
    { url_seconds, part_bytes: PART },
  )
const options = (store: ArchiveStore): PackOptions => ({
  ...{ daemon: client(), store, session_id: "sess_s", epoch: 1, archive_id: archiveId, generation: 1 },
  ...{ agent_session_id: null, agent_files: [], agent_exports: [], max_bytes: 2 ** 30 },
})
const key = () => `some/prefix/${archiveId}.tar.zst`
const openUploads = async () => (await s3.send(new ListMultipartUploadsCommand({ Bucket: BUCKET }))).Uploads ?? []
const restore = async (
  store: ArchiveStore,
  archive: { location: string; sha256: string; bytes: number },
  seen: Progress[] = [],
  signal?: AbortSignal,
) =>
  restoreFromStore({
    ...options(store),
    ...(signal ? { signal } : {}),
    ...{ generation: 2, agent_imports: [], archive, workspace: workspace(), progress: (progress: Progress) => seen.push({ ...progress }) },
  })
const sizeOf = (file: string) => statSync(file, { throwIfNoEntry: false })?.size ?? 0
const forget = () => client().removeSession("sess_s", 1, 1)

test("an archive goes up in parts, is verified, listed, comes down again, and is removed", async () => {
  const store = newStore()
  const seen: Progress[] = []
  const packed = await packToStore({ ...options(store), progress: (progress) => seen.push({ ...progress }) })
  expect(packed.location).toBe(`s3://${BUCKET}/${key()}`)
  expect(proxy.seen.filter((request) => /^PUT .*partNumber=/.test(request))).toHaveLength(3)
  expect(seen.at(-1)).toMatchObject({ state: "uploading", bytes: packed.bytes, total_bytes: packed.bytes })
  expect(readdirSync(join(dataDir, "staging"))).toEqual([])
  await store.verify(packed)
  expect(await store.list()).toContainEqual(
    expect.objectContaining({ archive_id: archiveId, location: packed.location, bytes: packed.bytes }),
  )
  await forget()
  expect(await restore(store, packed)).toMatchObject({ files: 12 })
  expect(snapshot(workspace().path)).toEqual(before)
  expect(readdirSync(join(dataDir, "staging"))).toEqual([])
  await store.remove(packed.location)
  await store.remove(packed.location)
  await expect(store.verify(packed)).rejects.toMatchObject({ reason: "archive_missing" })
})

test("a URL that runs out between two parts is renewed, and no part is sent twice", async () => {
  proxy.once((request) => request.startsWith("PUT") && request.includes("partNumber=2"), { kind: "hold_request", until: () => delay(4500) })
  // A signature counts whole seconds: one of a single second may be over before the first part is on its way.
  const store = newStore(3)
  const packed = await packToStore(options(store))
  await store.verify(packed)
  const parts = proxy.seen.flatMap((request) => /^PUT .*partNumber=(\d)/.exec(request)?.[1] ?? [])
  expect(parts.filter((n) => n === "1")).toHaveLength(1)
  expect(parts.filter((n) => n === "2").length).toBeGreaterThan(1)
})

test("a download whose URL runs out half-way goes on from there with a new one", async () => {
  const packed = await packToStore(options(newStore()))
  await forget()
  proxy.once((request) => request.startsWith("GET"), { kind: "cut_answer", after: 4_000_000, until: delay(4500) })
  const seen: Progress[] = []
  await restore(newStore(3), packed, seen)
  expect(snapshot(workspace().path)).toEqual(before)
  expect(seen.map(({ state }) => state)).toContain("needs_url")
  expect(proxy.ranges.map((range) => Number(/=(\d+)-/.exec(range)?.[1])).every((from) => from > 0 && from <= 4_000_000)).toBe(true)
  expect(proxy.ranges.length).toBeGreaterThan(0)
})

test("a line cut in the middle of a download is taken up again by the daemon itself, also after a kill", async () => {
  const packed = await packToStore(options(newStore()))
  await forget()
  proxy.once((request) => request.startsWith("GET"), { kind: "cut_answer", after: 3_000_000, until: new Promise(() => undefined) })
  const store = newStore()
  const given = new AbortController()
  const restoring = restore(store, packed, [], given.signal).catch((error) => error)
  await waitUntil(() => sizeOf(join(dataDir, `staging/${archiveId}.download`)) > 0, "a part of the download")
  await daemon.kill()
  given.abort()
  expect(await restoring).toMatchObject({ reason: "aborted" })
  daemon = await Daemon.start(dataDir)
  expect(await restore(store, packed)).toMatchObject({ files: 12 })
  expect(proxy.ranges.length).toBeGreaterThan(0)
  expect(snapshot(workspace().path)).toEqual(before)
})

test("an answer that is lost when the upload is completed makes one object and leaves no upload open", async () => {
  proxy.once((request) => request.startsWith("POST") && request.includes("uploadId="), { kind: "swallow_answer" })
  const store = newStore()
  const packed = await packToStore(options(store))
  await store.verify(packed)
  expect((await store.list()).filter(({ archive_id }) => archive_id === archiveId)).toHaveLength(1)
  expect(await openUploads()).toEqual([])
  await forget()
  await restore(store, packed)
  expect(snapshot(workspace().path)).toEqual(before)
})

test("a part that is changed on its way is refused by the store and sent again", async () => {
  proxy.once((request) => request.startsWith("PUT") && request.includes("partNumber=1"), { kind: "spoil_request" })
  const store = newStore()
  const packed = await packToStore(options(store))
  await forget()
  await restore(store, packed)
  expect(snapshot(workspace().path)).toEqual(before)
})

test("a truncated and a changed object are refused, and nothing is left of them", async () => {
  const store = newStore()
  const packed = await packToStore(options(store))
  await forget()
  const object = await s3.send(new GetObjectCommand({ Bucket: BUCKET, Key: key() }))
  const bytes = Buffer.from((await object.Body?.transformToByteArray()) ?? [])
  const replace = (Body: Buffer) => s3.send(new PutObjectCommand({ Bucket: BUCKET, Key: key(), Body, Metadata: { sha256: packed.sha256 } }))
  await replace(bytes.subarray(0, -100))
  await expect(store.verify(packed)).rejects.toMatchObject({ reason: "checksum_mismatch" })
  await expect(restore(store, packed)).rejects.toMatchObject({ reason: "checksum_mismatch" })
  const changed = Buffer.from(bytes)
  changed[changed.length >> 1] = (changed[changed.length >> 1] ?? 0) ^ 1
  await replace(changed)
  await expect(restore(store, packed)).rejects.toMatchObject({ reason: "checksum_mismatch" })
  expect(existsSync(workspace().path)).toBe(false)
  expect(readdirSync(join(dataDir, "staging"))).toEqual([])
  await replace(bytes)
  await restore(store, packed)
  expect(snapshot(workspace().path)).toEqual(before)
})

test("an upload that nobody finished is swept; a store that is away is told from an archive that is missing", async () => {
  const store = newStore()
  await s3.send(new CreateMultipartUploadCommand({ Bucket: BUCKET, Key: key() }))
  expect(await store.sweep(60 * 60_000)).toBe(0)
  expect(await store.sweep(-60_000)).toBe(1)
  expect(await openUploads()).toEqual([])
  const gone = { location: `s3://${BUCKET}/some/prefix/arc_never.tar.zst`, sha256: "0".repeat(64), bytes: 10 }
  await expect(store.verify(gone)).rejects.toMatchObject({ reason: "archive_missing" })
  await forget()
  await expect(restore(store, gone)).rejects.toMatchObject({ reason: "archive_missing" })
  const away = newStore(900, "http://127.0.0.1:9")
  await expect(away.verify(gone)).rejects.toMatchObject({ reason: "store_unreachable" })
  await expect(restore(away, gone)).rejects.toMatchObject({ reason: "store_unreachable" })
})

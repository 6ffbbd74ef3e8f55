import { randomBytes } from "node:crypto"
import { existsSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { CreateBucketCommand, ListObjectsV2Command, S3Client } from "@aws-sdk/client-s3"
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest"
import type { SessionStatusReport } from "../../../lib/contracts/status"
import { startCeph } from "../../../scripts/lib/services/ceph.mjs"
import { snapshot } from "../../support/archives"
import { archiveTask, reapUntil } from "../../support/expiry"
import { FaultyProxy } from "../../support/faulty-proxy"
import { agentText, Rewake } from "../../support/server"
import { waitUntil } from "../../support/wait-until"

const BUCKET = "rewake-tasks"

let ceph: Awaited<ReturnType<typeof startCeph>>
let s3: S3Client
let proxy: FaultyProxy
let rewake: Rewake
beforeAll(async () => {
  ceph = await startCeph()
  const { endpoint, credentials } = ceph
  s3 = new S3Client({ endpoint, credentials, region: "us-east-1", forcePathStyle: true, requestChecksumCalculation: "WHEN_REQUIRED" })
  await s3.send(new CreateBucketCommand({ Bucket: BUCKET }))
}, 120_000)
afterAll(() => ceph?.stop())
beforeEach(async () => {
  proxy = await FaultyProxy.start(ceph.endpoint)
  rewake = await Rewake.start({
    env: {
      ARCHIVE_URL: `s3://${BUCKET}/kept`,
      S3_ENDPOINT: proxy.endpoint,
      AWS_ACCESS_KEY_ID: ceph.credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: ceph.credentials.secretAccessKey,
    },
  })
})
afterEach(async () => {
  await rewake?.stop()
  proxy?.stop()
})

/** A task that knows a word and has a file of three parts' size. */
async function taskWithFiles(word: string) {
  const { task, session } = await rewake.createTask(`remember ${word}`)
  await rewake.waitForRuns(session.id, 1)
  const { body } = await rewake.api<SessionStatusReport>("GET", `/api/v1/sessions/${session.id}/status`)
  const folder = body.worktree_path as string
  writeFileSync(join(folder, "large.bin"), randomBytes(11 * 1024 * 1024))
  return { task, session, folder, before: snapshot(folder) }
}
const restore = (taskId: number, message: string) => rewake.api("POST", `/api/v1/tasks/${taskId}/restore`, { message })

test("[L2, L3] an expired task goes to the bucket and comes back from it, byte for byte, and answers", async () => {
  const { task, session, folder, before } = await taskWithFiles("hazel")
  const log = await archiveTask(rewake, task.id, session.id)
  await waitUntil(() => !existsSync(folder), "the folder to be gone")
  const archive = log.flatMap((event) => (event.kind === "archive.created" ? [event.archive_id] : []))[0]
  const { Contents } = await s3.send(new ListObjectsV2Command({ Bucket: BUCKET, Prefix: `kept/${archive}` }))
  expect(Contents).toHaveLength(1)

  expect((await restore(task.id, "recall")).status).toBe(200)
  expect(agentText(await rewake.waitForRuns(session.id, 2))).toContain("hazel")
  expect(snapshot(folder)).toEqual(before)
})

test("[7] a bucket that cannot be reached keeps the executor, and says why", async () => {
  const { task, session, folder, before } = await taskWithFiles("rowan")
  proxy.away = true
  const failure = async () => (await rewake.events(session.id)).some((event) => event.kind === "archive.failed")
  await reapUntil(rewake, task.id, failure, "the failure")
  const log = await rewake.events(session.id)
  expect(log.find((event) => event.kind === "archive.failed")).toMatchObject({ reason: "store_unreachable" })
  expect(log.some((event) => event.kind === "executor.deleted")).toBe(false)
  expect(snapshot(folder)).toEqual(before)
})

test("[L1] a bucket that cannot be reached when a task is wanted back: the message waits, and Retry brings both", async () => {
  const { task, session, folder, before } = await taskWithFiles("spruce")
  await archiveTask(rewake, task.id, session.id)
  await waitUntil(() => !existsSync(folder), "the folder to be gone")
  proxy.away = true
  expect((await restore(task.id, "recall")).status).toBe(200)
  const failed = await rewake.waitForEvent(session.id, (event) => event.kind === "executor.error", "the failure")
  expect(failed.findLast((event) => event.kind === "executor.error")).toMatchObject({ reason: "store_unreachable" })
  expect((await rewake.session(session.id)).state).toBe("ERROR")

  proxy.away = false
  expect((await rewake.api("POST", `/api/v1/sessions/${session.id}/resume`, {})).status).toBe(202)
  const log = await rewake.waitForRuns(session.id, 2)
  expect(agentText(log)).toContain("spruce")
  expect(log.filter((event) => event.kind === "message.user" && event.content === "recall")).toHaveLength(1)
  expect(snapshot(folder)).toEqual(before)
})

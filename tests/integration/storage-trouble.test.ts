import { copyFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, expect, test } from "vitest"
import type { SessionView } from "../../lib/contracts/task"
import { agentText, numbers, Rewake } from "../support/server"
import { SmallDisk } from "../support/small-disk"
import type { TcpProxy } from "../support/tcp-proxy"
import { readTemplate } from "../support/template"
import { waitUntil } from "../support/wait-until"

let rewake: Rewake | null = null
let disk: SmallDisk | null = null
afterEach(async () => {
  await rewake?.stop()
  disk?.unmount()
  rewake = disk = null
})

const ready = async (at: Rewake) => {
  const response = await fetch(`${at.url}/api/ready`)
  return [response.status, ((await response.json()) as { code?: string }).code]
}
/** An answer is shared for a second: one from before may still be given. */
const untilNotReady = (at: Rewake) =>
  waitUntil(async () => {
    const answer = await ready(at)
    return answer[0] === 200 ? null : answer
  }, "the server to notice")
const untilReady = (at: Rewake) => waitUntil(async () => (await ready(at))[0] === 200, "the server to be ready again")

async function startBehindProxy(): Promise<{ rewake: Rewake; proxy: TcpProxy }> {
  rewake = await Rewake.start({ database: "postgresql", proxied: true })
  return { rewake, proxy: rewake.proxy as TcpProxy }
}

test("PostgreSQL cut off: every answer names it, nothing is lost or done twice, and all works when it is back", async () => {
  const { rewake, proxy } = await startBehindProxy()
  const { task, session } = await rewake.createTask("count 100 40")
  await rewake.waitForEvent(session.id, (event) => event.kind === "message.delta", "the first number")
  const socket = rewake.socket()
  await new Promise<void>((resolve) => socket.on("connect", resolve))

  proxy.cut()
  const message = { message: "remember plum", client_message_id: "kept" }
  for (const [method, path, body] of [
    ["GET", "/api/v1/tasks", undefined],
    ["GET", `/api/v1/sessions/${session.id}/events`, undefined],
    ["POST", `/api/v1/tasks/${task.id}/append`, message],
  ] as const) {
    const answer = await rewake.api(method, path, body)
    expect([method, path, answer.status, answer.body.code]).toEqual([method, path, 503, "DATABASE_UNAVAILABLE"])
  }
  const asked = (await socket.emitWithAck("task.session.status", { session_id: session.id })) as { error?: { code: string } }
  expect(asked.error?.code).toBe("DATABASE_UNAVAILABLE")
  const late = rewake.socket()
  const refusal = await new Promise<{ data?: { code?: string } }>((resolve) => late.on("connect_error", resolve as never))
  expect(refusal.data?.code).toBe("DATABASE_UNAVAILABLE")
  expect(await untilNotReady(rewake)).toEqual([503, "DATABASE_UNAVAILABLE"])
  expect((await fetch(`${rewake.url}/api/health`)).status).toBe(200)

  proxy.pass()
  await untilReady(rewake)
  await rewake.append(task.id, message.message, { client_message_id: message.client_message_id })
  const log = await rewake.waitForRuns(session.id, 2)
  expect(agentText(log)).toContain(numbers(100))
  expect(log.filter((event) => event.kind === "message.user" && event.content === message.message)).toHaveLength(1)
})

test("PostgreSQL that says nothing counts as away after a bounded time", async () => {
  const { rewake, proxy } = await startBehindProxy()
  proxy.swallow()
  const asked = performance.now()
  expect(await untilNotReady(rewake)).toEqual([503, "DATABASE_UNAVAILABLE"])
  expect(performance.now() - asked).toBeLessThan(6_000)
  proxy.pass()
  await untilReady(rewake)
})

test("full disk under SQLite: reads go on, a message is refused by name, and what the agent said meanwhile is not lost", async () => {
  disk = new SmallDisk(8)
  const file = join(disk.path, "rewake.db")
  copyFileSync(readTemplate().file, file)
  rewake = await Rewake.start({ env: { DATABASE_URL: `file:${file}` } })
  const { task, session } = await rewake.createTask("count 100 40")
  await rewake.waitForEvent(session.id, (event) => event.kind === "message.delta", "the first number")

  disk.fill()
  const append = { message: "remember plum", client_message_id: "kept" }
  const refused = await waitUntil(async () => {
    const answer = await (rewake as Rewake).api("POST", `/api/v1/tasks/${task.id}/append`, append)
    return answer.status === 202 ? null : answer
  }, "a message that does not fit any more")
  expect([refused.status, refused.body.code]).toEqual([503, "STORAGE_FULL"])
  expect(refused.body.message).toMatch(/disk is full.*kept.*Free some space/)
  expect(await untilNotReady(rewake)).toEqual([503, "STORAGE_FULL"])
  expect((await rewake.api<SessionView>("GET", `/api/v1/sessions/${session.id}`)).status).toBe(200)

  disk.free()
  await untilReady(rewake)
  await rewake.append(task.id, append.message, { client_message_id: append.client_message_id })
  const log = await rewake.waitForRuns(session.id, 2)
  expect(agentText(log)).toContain(numbers(100))
  expect(log.filter((event) => event.kind === "record.rejected")).toEqual([])
  expect(log.filter((event) => event.kind === "message.user" && event.content === append.message)).toHaveLength(1)
})

test("a daemon that does not answer: files, changes, uploads and terminals say so, and all work when it is back", async () => {
  rewake = await Rewake.start({ durations: { callMs: 1_000, probeMs: 500 } })
  const { session } = await rewake.createTask("remember plum")
  await rewake.waitForRuns(session.id, 1)
  const at = `/api/v1/sessions/${session.id}`
  const { worker } = (await rewake.api<{ worker: { id: string } }>("POST", `${at}/workers`, { type: "terminal" })).body
  const calls = [
    ["GET", `${at}/files?path=`, undefined],
    ["GET", `${at}/diff`, undefined],
    ["PUT", `${at}/file?path=note.txt`, "text"],
    ["POST", `${at}/workers/${worker.id}/restart`, { continue: false }],
  ] as const
  const { pid } = rewake.daemon()
  process.kill(pid, "SIGSTOP")
  try {
    for (const [method, path, body] of calls) {
      const answer = await rewake.api(method, path, body)
      expect([method, path, answer.status, answer.body.code]).toEqual([method, path, 503, "EXECUTOR_UNREACHABLE"])
      expect(answer.body.message).toMatch(/does not answer.*kept.*Try again/)
    }
  } finally {
    process.kill(pid, "SIGCONT")
  }
  for (const [method, path, body] of calls)
    await waitUntil(async () => (await (rewake as Rewake).api(method, path, body)).status < 300, `${method} ${path} to work again`)
})

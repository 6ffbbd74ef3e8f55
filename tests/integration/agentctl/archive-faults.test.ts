import { execFileSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import {
  appendFileSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import type { ArchiveState, RestoreState } from "../../../lib/contracts/agentctl/archive"
import { packed, putArchive, putRestore, restored, snapshot } from "../../support/archives"
import { Daemon, newDataDir } from "../../support/daemon"

let dataDir: string
let daemon: Daemon
let path: string

beforeEach(async () => {
  dataDir = newDataDir()
  daemon = await Daemon.start(dataDir)
  path = join(dataDir, "workspaces/sess_k")
})
afterEach(async () => {
  await daemon.kill()
  expect(daemon.mistakes()).toEqual([])
  rmSync(dataDir, { recursive: true, force: true })
})

const spec = () => ({ kind: "folder" as const, path })
function fill(files: number, bytes: number): void {
  for (let i = 0; i < files; i++) {
    mkdirSync(join(path, `d${i % 20}`), { recursive: true })
    writeFileSync(join(path, `d${i % 20}/f${i}`), randomBytes(bytes))
  }
}

test("a daemon killed at any moment of packing leaves no archive or a whole one, and the same call finishes it", async () => {
  await daemon.putSession("sess_k")
  fill(600, 20_000)
  const before = snapshot(path)
  const archives = join(dataDir, "archives")
  for (const files of [1, 250, 550]) {
    await daemon.call("PUT", `/sessions/sess_k/archive/arc_${files}`, { body: putArchive(daemon) })
    for (;;) {
      const { body } = await daemon.call<ArchiveState>("GET", `/sessions/sess_k/archive/arc_${files}`)
      expect(body.error).toBe(null)
      if (body.files >= files) break
    }
    await daemon.kill()
    const whole = existsSync(join(archives, `arc_${files}.tar.zst`))
    daemon = await Daemon.start(dataDir)
    expect(snapshot(path)).toEqual(before)
    const archive = await packed(daemon, "sess_k", `arc_${files}`)
    expect(archive).toMatchObject({ state: "packed", files: 600 })
    if (!whole) expect(statSync(join(archives, `arc_${files}.tar.zst`)).size).toBe(archive.archive_bytes)
    expect(readdirSync(archives).filter((name) => name.endsWith(".partial"))).toEqual([])
  }
  expect(readdirSync(join(dataDir, "staging"))).toEqual([])
})

test("a daemon killed at any moment of a restore leaves nothing or the finished workspace, and the same call finishes it", async () => {
  await daemon.putSession("sess_k")
  fill(600, 20_000)
  const before = snapshot(path)
  const archive = await packed(daemon, "sess_k", "arc_k", { agent_session_id: "agent-k" })
  let generation = 1
  for (const reached of ["unpacking 1", "unpacking 300", "verifying 0", "verifying 400", "restored 0"]) {
    expect((await daemon.call("DELETE", `/sessions/sess_k?generation=${generation}`)).body).toMatchObject({ deleted: true })
    const body = putRestore(spec(), archive, { generation: ++generation })
    await daemon.call("PUT", "/sessions/sess_k/restore/arc_k", { body })
    const [phase = "", count] = reached.split(" ")
    const order = ["downloading", "unpacking", "verifying", "restored"]
    for (;;) {
      const { body: state } = await daemon.call<RestoreState>("GET", "/sessions/sess_k/restore/arc_k")
      expect(state.error).toBe(null)
      if (order.indexOf(state.state) > order.indexOf(phase) || (state.state === phase && state.files >= Number(count))) break
    }
    await daemon.kill()
    if (existsSync(path)) expect(snapshot(path)).toEqual(before)
    daemon = await Daemon.start(dataDir)
    expect(await restored(daemon, "sess_k", "arc_k", body)).toMatchObject({ state: "restored", files: 600, agent_session_id: "agent-k" })
    expect(snapshot(path)).toEqual(before)
    expect(readdirSync(join(dataDir, "workspaces"))).toEqual(["sess_k"])
    expect(await daemon.describe("sess_k")).toMatchObject({ workspace_path: path })
  }
})

test("nothing is unpacked over a living workspace, also when it appears while the archive is being unpacked", async () => {
  await daemon.putSession("sess_k")
  fill(300, 20_000)
  const archive = await packed(daemon, "sess_k", "arc_k")
  const refusal = { code: "WORKSPACE_EXISTS" }
  expect((await daemon.call("PUT", "/sessions/sess_k/restore/arc_k", { body: putRestore(spec(), archive) })).body).toMatchObject(refusal)
  await daemon.call("DELETE", "/sessions/sess_k?generation=1")
  await daemon.call("PUT", "/sessions/sess_k/restore/arc_k", { body: putRestore(spec(), archive) })
  mkdirSync(path)
  writeFileSync(join(path, "precious"), "mine")
  for (;;) {
    const { body } = await daemon.call<RestoreState>("GET", "/sessions/sess_k/restore/arc_k")
    if (body.state === "failed") {
      expect(body.error).toMatchObject(refusal)
      break
    }
    expect(body.state).not.toBe("restored")
  }
  expect(readdirSync(path)).toEqual(["precious"])
})

test("sockets, fifos and links that lead out are left out by name; the rest is archived", async () => {
  await daemon.putSession("sess_k")
  writeFileSync(join(path, "file"), "content")
  execFileSync("mkfifo", [join(path, "fifo")])
  const server = createServer().listen(join(path, "socket"))
  symlinkSync("/etc/hostname", join(path, "absolute"))
  symlinkSync("../elsewhere", join(path, "up"))
  symlinkSync(join(path, "file"), join(path, "inside"))
  const archive = await packed(daemon, "sess_k", "arc_k")
  server.close()
  expect(archive.state).toBe("packed")
  expect(archive.files).toBe(2)
  expect(archive.left_out).toContainEqual({
    ...{ reason: "outward_link", count: 2, bytes: null },
    names: [
      { path: "absolute", files: null },
      { path: "up", files: null },
    ],
  })
  await daemon.call("DELETE", "/sessions/sess_k?generation=1")
  expect((await restored(daemon, "sess_k", "arc_k", putRestore(spec(), archive))).state).toBe("restored")
  expect(readFileSync(join(path, "inside"), "utf8")).toBe("content")
})

test("a file that is written to all the time gives a clear code, and no archive", async () => {
  await daemon.putSession("sess_k")
  const file = join(path, "growing")
  writeFileSync(file, Buffer.alloc(64 * 1024 * 1024, 1))
  const fd = openSync(file, "a")
  await daemon.call("PUT", "/sessions/sess_k/archive/arc_k", { body: putArchive(daemon) })
  let state: ArchiveState
  do {
    writeSync(fd, "more")
    state = (await daemon.call<ArchiveState>("GET", "/sessions/sess_k/archive/arc_k")).body
  } while (state.state === "packing")
  closeSync(fd)
  expect(state).toMatchObject({ state: "failed", error: { code: "FILE_CHANGED" } })
  expect(readdirSync(join(dataDir, "archives"))).toEqual([])
  expect((await packed(daemon, "sess_k", "arc_k")).state).toBe("packed")
})

test("an agent that is started while its workspace is packed ends the packing", async () => {
  await daemon.putSession("sess_k")
  fill(1500, 20_000)
  await daemon.call("PUT", "/sessions/sess_k/archive/arc_k", { body: putArchive(daemon) })
  expect((await daemon.putAgent("sess_k", "exec_1")).status).toBe(200)
  expect((await daemon.call("GET", "/sessions/sess_k/archive/arc_k")).body).toMatchObject({ code: "NOT_FOUND" })
  expect(readdirSync(join(dataDir, "archives"))).toEqual([])
})

test("the agent's own files travel with the workspace: it remembers in a place that has never seen it", async () => {
  const { agent } = await daemon.ready("sess_k")
  const stream = daemon.events("sess_k")
  await daemon.prompt("sess_k", "p1", "remember heron")
  await stream.until("turn.ended")
  await stream.end()
  await daemon.call("DELETE", "/sessions/sess_k/agent")
  const id = agent.agent_session_id
  const memory = join(dataDir, "demo-agent", `${id}.jsonl`)
  const agent_files = [{ path: memory, as: `${id}.jsonl` }]
  const archive = await packed(daemon, "sess_k", "arc_k", { agent_session_id: id, agent_files })
  const said = readFileSync(memory, "utf8")
  await daemon.call("DELETE", "/sessions/sess_k?generation=1")
  rmSync(memory)

  const back = await restored(daemon, "sess_k", "arc_k", putRestore(spec(), archive, { agent_files }))
  expect(back).toMatchObject({ state: "restored", agent_session_id: id })
  expect(readFileSync(memory, "utf8")).toBe(said)
  const resolve = { kind: "resolve", task_id: "7", bot_id: "demo", new_session: false }
  const started = await daemon.putAgent("sess_k", "exec_2", { start: resolve })
  expect(started.body).toMatchObject({ strategy: "resumed", agent_session_id: id, resolved_from: "file" })
  const after = daemon.events("sess_k")
  await daemon.prompt("sess_k", "p2", "recall")
  await after.until("turn.ended")
  expect(after.text()).toContain("heron")
})

test("a conversation is resolved from the file, then by task and bot, then begun anew", async () => {
  await daemon.putSession("sess_k")
  const start = (execution: string, more: object = {}) =>
    daemon.putAgent("sess_k", execution, { start: { kind: "resolve", task_id: "7", bot_id: "demo", new_session: false, ...more } })
  const stop = () => daemon.call("DELETE", "/sessions/sess_k/agent")
  const first = await start("exec_1")
  expect(first.body).toMatchObject({ strategy: "new", resolved_from: "new" })
  await stop()
  expect((await start("exec_2")).body).toMatchObject({ resolved_from: "file", agent_session_id: first.body.agent_session_id })
  await stop()
  rmSync(join(dataDir, "sessions/sess_k.claude_session_id"))
  expect((await start("exec_3")).body).toMatchObject({ resolved_from: "task_and_bot", agent_session_id: first.body.agent_session_id })
  await stop()
  const fresh = await start("exec_4", { new_session: true })
  expect(fresh.body).toMatchObject({ strategy: "new", resolved_from: "new" })
  expect(fresh.body.agent_session_id).not.toBe(first.body.agent_session_id)
  await stop()
  appendFileSync(join(dataDir, "sessions/sess_k.claude_session_id"), "-unknown")
  expect((await start("exec_5")).body).toMatchObject({ code: "AGENT_SESSION_REJECTED" })
})

test("a full disk is told by its name, and leaves neither half an archive nor half a workspace", async () => {
  const disk = join(dataDir, "small-disk")
  mkdirSync(disk)
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=3m", "tmpfs", disk])
  try {
    await daemon.putSession("sess_k")
    writeFileSync(join(path, "large"), randomBytes(8_000_000))
    const failed = await packed(daemon, "sess_k", "arc_k", { folder: join(disk, "archives") })
    expect(failed).toMatchObject({ state: "failed", error: { code: "DISK_FULL" } })
    expect(readdirSync(join(disk, "archives"))).toEqual([])

    const archive = await packed(daemon, "sess_k", "arc_l")
    const onDisk = { kind: "folder" as const, path: join(disk, "workspace") }
    const state = await restored(daemon, "sess_other", "arc_l", putRestore(onDisk, archive))
    expect(state).toMatchObject({ state: "failed", error: { code: "DISK_FULL" } })
    expect(readdirSync(disk)).toEqual(["archives"])
  } finally {
    execFileSync("umount", [disk])
  }
})

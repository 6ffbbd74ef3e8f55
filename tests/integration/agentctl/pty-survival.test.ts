import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { isSameProcess, processStartTime } from "../../../lib/host/process-identity"
import { putArchive } from "../../support/archives"
import { Daemon, newDataDir } from "../../support/daemon"
import { PtyStream, ptyState, putPty, type } from "../../support/ptys"
import { waitUntil } from "../../support/wait-until"

let dataDir: string
let daemon: Daemon
const S = "sess_s"
const W = "wrk_1"

beforeEach(async () => {
  dataDir = newDataDir()
  daemon = await Daemon.start(dataDir)
  await daemon.putSession(S)
})
afterEach(async () => {
  await daemon.call("DELETE", `/sessions/${S}`).catch(() => undefined)
  await daemon.stop()
  expect(daemon.mistakes()).toEqual([])
  rmSync(dataDir, { recursive: true, force: true })
})

/** A terminal whose shell is ready; `run` types a line and waits for what it prints. */
async function openShell(workerId = W) {
  const { body } = await putPty(daemon, S, workerId)
  const viewer = new PtyStream(daemon, S, workerId, `output?offset=${body.epoch_offset}`)
  await viewer.until("ready> ")
  return {
    viewer,
    epoch: body.epoch,
    run: async (line: string, printed: Parameters<PtyStream["until"]>[0]) => {
      await type(daemon, S, workerId, body.epoch, `${line}\r`)
      return viewer.until(printed)
    },
  }
}

const pidsIn = (text: string): number[] => [...text.matchAll(/pid=(\d+)/g)].map((found) => Number(found[1]))
const lives = (pid: number) => processStartTime(pid) !== null
const commands = async (workerId = W) => (await ptyState(daemon, S, workerId)).processes.map(({ command }) => command).sort()

test("after the daemon was killed, the successor of a process that wrote nothing begins below a divider", async () => {
  const silent = { command: { file: "/bin/sleep", args: ["1000"], env: {} } }
  expect((await putPty(daemon, S, W, silent)).body).toMatchObject({ epoch: 1, epoch_offset: 0 })
  await daemon.kill()
  daemon = await Daemon.start(dataDir)
  expect((await putPty(daemon, S, W, silent)).body).toMatchObject({ epoch: 2, restored: true })
  const viewer = new PtyStream(daemon, S, W)
  await viewer.until("─── restored ")
})

test("after the daemon was killed the output stands above a divider and a new shell, and what ran is named with how it fared", async () => {
  const shell = await openShell()
  await shell.run("cd /tmp; echo before the kill", "before the kill\r\n")
  await shell.run("sleep 1001 & sleep 1002 | cat & nohup sleep '1003' >/dev/null 2>&1 & echo started", "started\r\n")
  await type(daemon, S, W, 1, "sh -c 'echo \"two  words\"; exec sleep 1004'\r")
  await shell.viewer.until("two  words\r\n")
  const running = ["sleep 1001", "sleep 1002 | cat", "sleep 1003", "sleep 1004"]
  await waitUntil(async () => (await commands()).join() === running.join(), "all of them are seen")
  const before = await ptyState(daemon, S, W)
  expect(before.processes.find(({ foreground }) => foreground)).toMatchObject({ command: "sleep 1004", cwd: "/tmp" })
  const shown = shell.viewer.bytes()

  await daemon.kill()
  daemon = await Daemon.start(dataDir)
  const gone = await waitUntil(async () => {
    const state = await ptyState(daemon, S, W)
    return state.lost.filter(({ alive }) => alive).length === 1 ? state : null
  }, "hung up")
  expect(gone).toMatchObject({ state: "gone", epoch: 1, pid: null })
  expect(gone.lost.map(({ command, foreground, alive }) => ({ command, foreground, alive }))).toEqual(
    expect.arrayContaining([
      { command: "sleep 1001", foreground: false, alive: false },
      { command: "sleep 1002 | cat", foreground: false, alive: false },
      { command: "sleep 1003", foreground: false, alive: true },
      { command: "sleep 1004", foreground: true, alive: false },
    ]),
  )
  expect(gone.head).toBeGreaterThanOrEqual(shown.length)
  const again = await openShell()
  expect(again.epoch).toBe(2)
  const whole = new PtyStream(daemon, S, W)
  await whole.until(/before the kill\r\n.*─── restored \d\d:\d\d, new shell ───.*ready> /s)
  expect(whole.bytes().subarray(0, shown.length).equals(shown)).toBe(true)
  expect((await ptyState(daemon, S, W)).lost).toEqual([])
  expect(await commands()).toEqual(["sleep 1003"])
})

test("an idle shell has lost nothing; a daemon that ends politely names what it ended", async () => {
  await openShell("wrk_idle")
  const busy = await openShell("wrk_busy")
  await type(daemon, S, "wrk_busy", busy.epoch, "sleep 1005\r")
  await waitUntil(async () => (await commands("wrk_busy")).length === 1, "it runs")
  expect(await daemon.stop()).toBe(0)
  daemon = await Daemon.start(dataDir)
  expect(await ptyState(daemon, S, "wrk_idle")).toMatchObject({ state: "gone", lost: [] })
  expect(await ptyState(daemon, S, "wrk_busy")).toMatchObject({
    state: "gone",
    lost: [{ command: "sleep 1005", foreground: true, alive: false }],
  })
})

test("closing ends everything a terminal started: jobs, nohup, sessions of their own, stopped ones, what ignores signals; files go", async () => {
  const shell = await openShell()
  const other = await openShell("wrk_2")
  const kept = pidsIn(await other.run("sleep 1006 & echo pid=$!", /pid=\d+\r\n/))
  const text = await shell.run(
    [
      "sleep 1010 & echo pid=$!",
      "nohup sleep 1011 >/dev/null 2>&1 & echo pid=$!",
      "{ setsid sh -c 'echo pid=$$; trap \"\" HUP TERM; while :; do sleep 1012; done' & }",
      "(setsid sh -c 'echo pid=$$; (env -i sleep 1013 & echo pid=$!); sleep 1014' &)",
      "sh -c 'echo pid=$$; kill -STOP $$' & sleep 0.3; echo all",
    ].join("; "),
    (seen) => pidsIn(seen).length >= 6 && /all\r\n/.test(seen),
  )
  const started = pidsIn(text)
  for (const pid of started) expect(lives(pid)).toBe(true)
  const { status } = await daemon.call("DELETE", `/sessions/${S}/ptys/${W}`)
  expect(status).toBe(200)
  expect(started.filter(lives)).toEqual([])
  await shell.viewer.ended
  expect(existsSync(join(dataDir, `sessions/${S}.ptys/${W}`))).toBe(false)
  expect(kept.filter(lives)).toEqual(kept)
  expect((await daemon.call("DELETE", `/sessions/${S}/ptys/${W}`)).body).toEqual({ removed: false })
})

test("a restart ends what ran and starts below a divider; the old viewer's stream ends", async () => {
  const shell = await openShell()
  const [job] = pidsIn(await shell.run("setsid sleep 1020 & echo pid=$!", /pid=\d+\r\n/))
  const { body } = await putPty(daemon, S, W, { restart: true })
  expect(body).toMatchObject({ epoch: 2, restored: true, state: "running" })
  expect(lives(job as number)).toBe(false)
  await shell.viewer.ended
  expect(shell.viewer.received).toBeLessThan(body.epoch_offset)
})

test("a raised generation, an archive and a removed session leave no process of a terminal behind", async () => {
  const workspace = { kind: "folder", path: join(dataDir, "workspaces", S) }
  const ending = [
    () => daemon.call("PUT", `/sessions/${S}/generation`, { body: { generation: 2 } }),
    () => daemon.call("PUT", `/sessions/${S}/archive/arc_1`, { body: { ...putArchive(daemon), generation: 2 } }),
    () => daemon.call("DELETE", `/sessions/${S}`),
  ]
  for (const end of ending) {
    const shell = await openShell()
    const pids = pidsIn(await shell.run("setsid sleep 1030 & echo pid=$!; echo pid=$$", /pid=\d+\r\n(?:.*)pid=\d+\r\n/s))
    expect((await end()).status).toBe(200)
    expect(pids.filter(lives)).toEqual([])
  }
  expect(readdirSync(join(dataDir, "sessions")).filter((name) => name.startsWith(S))).toEqual([])
  await daemon.call("PUT", `/sessions/${S}`, { body: { generation: 2, workspace } })
})

test("the whole of one session's terminals is opened although a record and a segment are broken", async () => {
  await openShell("wrk_good")
  const shell = await openShell("wrk_bad")
  await shell.run("echo something", "something\r\n")
  await daemon.kill()
  const folder = join(dataDir, `sessions/${S}.ptys/wrk_bad`)
  writeFileSync(join(folder, "000000000000001.gz"), "no gzip")
  writeFileSync(join(folder, "screen"), "{")
  mkdirSync(join(dataDir, `sessions/${S}.ptys/wrk_torn`))
  writeFileSync(join(dataDir, `sessions/${S}.ptys/wrk_torn/state.json`), "{")
  daemon = await Daemon.start(dataDir)
  expect(await ptyState(daemon, S, "wrk_good")).toMatchObject({ state: "gone" })
  const again = await openShell("wrk_bad")
  await again.run("echo more", "more\r\n")
  expect((await putPty(daemon, S, "wrk_torn")).body).toMatchObject({ state: "running", epoch: 1 })
})

test("a terminal holds no other terminal open, so that a killed daemon hangs up on all of them", async () => {
  const first = await openShell()
  await openShell("wrk_2")
  await type(daemon, S, W, first.epoch, "sleep 1040\r")
  const { pid } = (await waitUntil(async () => (await ptyState(daemon, S, W)).processes[0], "it runs")) as { pid: number }
  const startTime = processStartTime(pid) ?? ""
  await daemon.kill()
  await waitUntil(() => !isSameProcess(pid, startTime), "hung up without a successor")
  daemon = await Daemon.start(dataDir)
})

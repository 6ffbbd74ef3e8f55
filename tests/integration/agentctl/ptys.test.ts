import { readdirSync, readlinkSync } from "node:fs"
import { beforeEach, expect, test } from "vitest"
import { PtyStream, plainShell, ptyState, putPty, type } from "../../support/ptys"
import { useDaemon } from "../../support/use-daemon"

const S = "sess_t"
const W = "wrk_1"

const daemon = useDaemon({ end: "stop" })
beforeEach(async () => {
  await daemon.putSession(S)
})

test("a shell starts in the workspace, says what is typed back, and gets the size it is given", async () => {
  const { status, body } = await putPty(daemon, S, W)
  expect(status).toBe(200)
  expect(body).toMatchObject({ worker_id: W, state: "running", epoch: 1, restored: false, first: 0, epoch_offset: 0, cols: 80, rows: 24 })
  const viewer = new PtyStream(daemon, S, W)
  await viewer.until("ready> ")
  await type(daemon, S, W, 1, "pwd; stty size; echo $TERM $COLORTERM $REWAKE_SESSION_ID $REWAKE_WORKER_ID; ls /proc/self/fd | wc -l\r")
  const text = await viewer.until(/sess_t wrk_1\r\n\d+\r\n/)
  expect(text).toContain(`${daemon.dataDir}/workspaces/${S}\r\n24 80\r\nxterm-256color truecolor sess_t wrk_1\r\n4\r\n`)
  await daemon.call("PUT", `/sessions/${S}/ptys/${W}/size`, { body: { cols: 132, rows: 50 } })
  await type(daemon, S, W, 1, "stty size\r")
  await viewer.until((text) => text.endsWith("50 132\r\n\x1b[?2004hready> "))
  expect(await ptyState(daemon, S, W)).toMatchObject({ cols: 132, rows: 50, processes: [], lost: [] })
  viewer.close()
})

test("two calls at once start one process; one that lives is left alone", async () => {
  const answers = await Promise.all([putPty(daemon, S, W), putPty(daemon, S, W), putPty(daemon, S, W, { cols: 100 })])
  const pids = answers.map(({ body }) => body.pid)
  expect(new Set(pids).size).toBe(1)
  expect(answers.map(({ body }) => body.epoch)).toEqual([1, 1, 1])
})

test("an exit ends the stream; the next process stands below a divider in the same stream, and input for the old one is refused", async () => {
  await putPty(daemon, S, W)
  const viewer = new PtyStream(daemon, S, W)
  await viewer.until("ready> ")
  await type(daemon, S, W, 1, "printf '\\033[?1049h\\033[31mred'; exit 7\r")
  await viewer.ended
  const before = await ptyState(daemon, S, W)
  expect(before).toMatchObject({ state: "exited", exit: { exit_code: 7, signal: null }, pid: null, lost: [] })
  expect(before.head).toBe(viewer.received)
  const { body } = await putPty(daemon, S, W)
  expect(body).toMatchObject({ state: "running", epoch: 2, restored: true, exit: null })
  expect((await type(daemon, S, W, 1, "x")).body).toMatchObject({ code: "PTY_GONE", epoch: 2 })
  const again = new PtyStream(daemon, S, W, `output?offset=${before.head}`)
  const text = await again.until("ready> ")
  expect([again.epoch, again.offset]).toEqual([2, before.head])
  const [modes, below] = text.split(/─── restored \d\d:\d\d, new shell ───/) as [string, string]
  for (const sequence of ["?1049l", "?1000l", "?2004l", "0m"]) expect(modes).toContain(`\x1b[${sequence}`)
  expect(below.startsWith("\x1b[0m\r\n")).toBe(true)
  const divider = again.bytes().subarray(0, body.epoch_offset - before.head)
  expect(divider.toString("utf8").endsWith("───\x1b[0m\r\n")).toBe(true)
  again.close()
})

test("a terminal that was never opened, a folder's name in its place and a program that is not there are refused", async () => {
  expect((await daemon.call("PUT", `/sessions/${S}/ptys/${W}/size`, { body: { cols: 80, rows: 24 } })).body.code).toBe("NOT_FOUND")
  expect((await type(daemon, S, "wrk_none", 1, "x")).body.code).toBe("NOT_FOUND")
  expect((await putPty(daemon, S, "..%2Fx")).body.code).toBe("INVALID_INPUT")
  const { status, body } = await putPty(daemon, S, W, { command: { ...plainShell, file: "no-such-program" } })
  expect([status, body.code]).toEqual([422, "PTY_START_FAILED"])
})

test("no agent, and nothing it runs, holds somebody's terminal open", async () => {
  await putPty(daemon, S, W)
  await putPty(daemon, S, "wrk_2")
  const { agent } = await daemon.ready("sess_u")
  const held = readdirSync(`/proc/${agent.pid}/fd`).map((fd) => readlinkSync(`/proc/${agent.pid}/fd/${fd}`))
  expect(held.filter((file) => file.endsWith("ptmx"))).toEqual([])
})

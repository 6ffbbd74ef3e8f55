import { existsSync } from "node:fs"
import { describe, expect, test } from "vitest"
import type { WorkerView } from "../../lib/contracts/workers"
import { processStartTime } from "../../lib/host/process-identity"
import { ofKind } from "../support/events"
import { archiveTask, reapUntil } from "../support/expiry"
import type { Rewake } from "../support/server"
import { describeTerminal, openTerminal, readySession, TERMINAL_ENV, Viewer, view } from "../support/terminal"
import { useServers } from "../support/use-servers"
import { waitUntil } from "../support/wait-until"

const startServer = useServers()

const SERVER = `node -e 'require("http").createServer().listen(0,()=>console.log("listen"+"ing"))'`
const receipts = async (rewake: Rewake, sessionId: string) => ofKind(await rewake.events(sessionId), "recovery.receipt")

/** A daemon that does not answer is noticed, and told again, soon. */
const durations = { probeMs: 1_000, callMs: 1_000, closeRetryMs: 500 }

describe("terminals outlive what dies", () => {
  let rewake: Rewake

  const start = async () => {
    rewake = await startServer({ env: TERMINAL_ENV, durations })
  }
  /** A terminal with something in front in it, which its daemon has taken note of. */
  async function running(viewer: Viewer, worker: WorkerView, command: string, shown: RegExp): Promise<string> {
    await viewer.type(`${command}\r`)
    await viewer.until(shown)
    const seen = await waitUntil(
      async () => (await describeTerminal(rewake, worker)).processes.find(({ foreground }) => foreground),
      "what runs in front",
    )
    return seen.command
  }

  test("[L4] kill -9 of the server: the same processes, the same screen; viewers go on from their offset", async () => {
    await start()
    const sessionId = await readySession(rewake)
    const [editing, serving] = [await openTerminal(rewake, sessionId), await openTerminal(rewake, sessionId)]
    const viewer = await view(rewake, editing, { cols: 90, rows: 30 })
    const pid = Number(await viewer.run("echo $$"))
    const life = processStartTime(pid)
    await viewer.run("seq 1 300 > numbers")
    await running(viewer, editing, "less -X+G numbers; true", /300/)
    const other = await view(rewake, serving)
    await other.type("i=0; while :; do echo tick $i; i=$((i+1)); sleep 0.05; done\r")
    await other.until(/tick 10\r/)
    const before = await snapshotOf(editing)

    await rewake.kill9()
    const missed = other.offset
    await rewake.boot()
    await waitUntil(() => other.socket.connected, "a reconnected socket")
    const attached = await other.attach({ offset: missed })
    expect(attached).toMatchObject({ epoch: 1, restored: false, offset: missed })
    const last = Number(/tick (\d+)\r\n$/.exec(other.text())?.[1] ?? 10)
    await other.until(new RegExp(`tick ${last + 30}\\r`))
    const ticks = [...other.text().matchAll(/tick (\d+)\r/g)].map(([, n]) => Number(n))
    expect(ticks).toEqual(ticks.map((_, n) => n))

    expect(await snapshotOf(editing)).toBe(before)
    expect(processStartTime(pid)).toBe(life)
    expect((await rewake.events(sessionId)).filter((event) => event.kind === "worker.restored")).toEqual([])
    const told = await waitUntil(async () => (await receipts(rewake, sessionId)).at(-1), "the receipt")
    expect(told.level).toBe("L4")
    expect(told.processes).toContainEqual({
      what: expect.stringMatching(/^Terminal 1: .*less/),
      outcome: "kept",
      worker_id: editing.id,
    })
  })

  const snapshotOf = async (worker: WorkerView) => {
    const looker = await view(rewake, worker, { snapshot: true })
    looker.socket.disconnect()
    return Buffer.from(looker.attached?.snapshot ?? []).toString("utf8")
  }

  test("kill -9 of server and agentctl: old output, divider, new shell; the receipt names what ended, and its line runs it again", async () => {
    await start()
    const sessionId = await readySession(rewake)
    const worker = await openTerminal(rewake, sessionId)
    const viewer = await view(rewake, worker)
    await viewer.run("mkdir -p 'my app'; cd 'my app'; echo before-the-night")
    const command = await running(viewer, worker, SERVER, /listening/)
    const { body } = await rewake.api<{ worktree_path: string }>("GET", `/api/v1/sessions/${sessionId}/status`)

    rewake.killDaemon()
    await rewake.kill9()
    await rewake.boot()
    const found = await waitUntil(
      async () => (await receipts(rewake, sessionId)).find(({ processes }) => processes.some((one) => one.worker_id === worker.id)),
      "a receipt that names the terminal",
    )
    const ended = found.processes.filter((one) => one.worker_id === worker.id)
    expect(ended).toMatchObject([
      { what: "Terminal 1", outcome: "ended" },
      { what: command, outcome: "ended", command: `cd '${body.worktree_path}/my app' && ${command}` },
    ])

    await waitUntil(() => viewer.socket.connected, "a reconnected socket")
    const attached = await viewer.attach({ offset: viewer.offset })
    expect(attached).toMatchObject({ epoch: 2, restored: true })
    await viewer.until(/before-the-night[\s\S]*─── restored \d\d:\d\d, new shell ───/)
    expect(await viewer.run("pwd -P")).toBe(body.worktree_path)
    expect((await rewake.events(sessionId)).filter((event) => event.kind === "worker.restored")).toMatchObject([
      { worker_id: worker.id, epoch: 2, lost: [command] },
    ])
    // Nothing was started by itself; the line that was kept does it.
    expect((await describeTerminal(rewake, worker)).processes).toEqual([])
    viewer.forget()
    await viewer.type(`${ended[1]?.command}\r`)
    await viewer.until(/listening/)

    // The same loss is told once, however often the session is looked at again.
    await rewake.restart()
    await waitUntil(async () => (await receipts(rewake, sessionId)).length > 1, "the next receipt")
    const later = (await receipts(rewake, sessionId)).slice(1)
    expect(later.flatMap(({ processes }) => processes).filter((one) => one.worker_id === worker.id && one.outcome === "ended")).toEqual([])
  })

  test("agentctl alone dies: the viewer is told that it was lost, attaches by itself, and the receipt is there", async () => {
    await start()
    const sessionId = await readySession(rewake)
    const worker = await openTerminal(rewake, sessionId)
    const viewer = await view(rewake, worker)
    const command = await running(viewer, worker, SERVER, /listening/)
    rewake.killDaemon()
    await waitUntil(() => viewer.exits.length > 0, "the exit")
    expect(viewer.exits).toMatchObject([{ reason: "lost" }])
    const attached = await viewer.attach({ offset: viewer.offset })
    expect(attached).toMatchObject({ epoch: 2, restored: true })
    const told = (await receipts(rewake, sessionId)).flatMap(({ processes }) => processes)
    expect(told).toContainEqual(expect.objectContaining({ what: command, outcome: "ended", worker_id: worker.id }))
  })

  test("a tab closed while its daemon does not answer is closed at once, and its processes end when the daemon is back", async () => {
    await start()
    const sessionId = await readySession(rewake)
    const worker = await openTerminal(rewake, sessionId)
    const viewer = await view(rewake, worker)
    const pid = Number(await viewer.run("echo $$"))
    const life = processStartTime(pid)
    const daemon = rewake.daemon().pid
    process.kill(daemon, "SIGSTOP")
    try {
      expect((await rewake.api("DELETE", `/api/v1/sessions/${sessionId}/workers/${worker.id}`)).status).toBe(204)
      expect((await rewake.api<{ workers: WorkerView[] }>("GET", `/api/v1/sessions/${sessionId}/workers`)).body.workers).toEqual([])
      expect(processStartTime(pid)).toBe(life)
    } finally {
      process.kill(daemon, "SIGCONT")
    }
    await waitUntil(() => processStartTime(pid) !== life, "the shell to end")
  })

  test.each([
    ["with its agent at rest", false],
    ["asleep, which nothing else wakes", true],
  ])("a closed tab whose server died before it told the daemon ends with the next server: a session %s", async (_, asleep) => {
    await start()
    const sessionId = await readySession(rewake)
    if (asleep) {
      await rewake.api("POST", `/api/v1/sessions/${sessionId}/stop`, {})
      await rewake.waitForEvent(sessionId, (event) => event.kind === "agent.exited", "the agent's end")
    }
    const worker = await openTerminal(rewake, sessionId)
    const viewer = await view(rewake, worker)
    const pid = Number(await viewer.run("echo $$"))
    const life = processStartTime(pid)
    const daemon = rewake.daemon().pid
    process.kill(daemon, "SIGSTOP")
    try {
      await rewake.api("DELETE", `/api/v1/sessions/${sessionId}/workers/${worker.id}`)
      await rewake.kill9()
    } finally {
      process.kill(daemon, "SIGCONT")
    }
    expect(processStartTime(pid)).toBe(life)
    await rewake.boot()
    await waitUntil(() => processStartTime(pid) !== life, "the shell to end")
  })

  test("archived tabs are listed and say why they are closed; restored ones have new shells below old output", async () => {
    await start()
    const sessionId = await readySession(rewake)
    const worker = await openTerminal(rewake, sessionId, { type: "terminal", name: "build" })
    const viewer = await view(rewake, worker)
    const pid = Number(await viewer.run("echo kept > note; echo $$"))
    const { task_id } = await rewake.session(sessionId)
    // A program in the foreground keeps the task from being archived, however old it is.
    await running(viewer, worker, "sleep 600", /sleep 600/)
    await reapUntil(rewake, task_id, () => rewake.output.includes('"outcome":"not_due"'), "a round of the reaper")
    expect((await rewake.events(sessionId)).some((event) => event.kind === "executor.deleted")).toBe(false)
    await viewer.type("\u0003")
    await waitUntil(async () => (await describeTerminal(rewake, worker)).processes.length === 0, "the program to end")
    await archiveTask(rewake, task_id, sessionId)
    expect(existsSync(`/proc/${pid}`)).toBe(false)

    const tabs = await rewake.api<{ workers: WorkerView[] }>("GET", `/api/v1/sessions/${sessionId}/workers`)
    expect(tabs.body.workers).toMatchObject([{ id: worker.id, name: "build" }])
    const late = new Viewer(rewake.socket(), worker)
    expect((await late.ask()).error).toMatchObject({ code: "NOT_READY", executor_status: "deleted" })
    await waitUntil(() => late.exits.length > 0, "the exit")
    expect(late.exits).toMatchObject([{ exit_code: 1, reason: "put_away" }])

    await rewake.api("POST", `/api/v1/tasks/${task_id}/restore`, { message: "recall" })
    // Other output than what was shown before, whatever its offsets: a page must not go on from the old.
    expect((await late.attach({ offset: 0 })).generation).toBeGreaterThan(viewer.attached?.generation ?? 0)
    expect(late.attached).toMatchObject({ epoch: 1, restored: false })
    await late.until(/echo kept > note[\s\S]*sleep 600[\s\S]*─── restored \d\d:\d\d, new shell ───/)
    expect(await late.run("cat note")).toBe("kept")
    const log = await rewake.waitForEvent(
      sessionId,
      (event) => event.kind === "recovery.receipt" && event.receipt_kind === "restore",
      "the receipt",
    )
    const receipt = log.find((event) => event.kind === "recovery.receipt" && event.receipt_kind === "restore")
    expect(receipt).toMatchObject({ processes: expect.arrayContaining([{ what: "build", outcome: "ended", worker_id: worker.id }]) })
  })
})

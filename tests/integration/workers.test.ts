import { createHash, randomBytes } from "node:crypto"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Socket } from "socket.io-client"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { SessionStatusReport } from "../../lib/contracts/status"
import type { WorkerView } from "../../lib/contracts/workers"
import { Rewake } from "../support/server"
import { describeTerminal, openTerminal, readySession, TERMINAL_ENV, Viewer, view } from "../support/terminal"
import { waitUntil } from "../support/wait-until"

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex")
/** Random bytes ask the terminal something now and then, and its answer is typed: in the middle of the next command, if it comes late. */
function withoutQuestions(bytes: Buffer): Buffer {
  for (let i = 0; i < bytes.length - 1; i++) {
    if (bytes[i] === 0x1b) bytes[i + 1] = 0x37
    // A control sequence may begin with U+0080 to U+009F as well.
    if (bytes[i] === 0xc2 && ((bytes[i + 1] as number) & 0xe0) === 0x80) bytes[i + 1] = 0xa0
  }
  return bytes
}
const residentMegabytes = (pid: number) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024
const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
/** The bytes beneath socket.io: pausing them is a client whose network has stalled. */
const wire = (socket: Socket) =>
  (socket.io.engine as unknown as { transport: { ws: { _socket: import("node:net").Socket } } }).transport.ws._socket

describe("workers", () => {
  let rewake: Rewake
  let sessionId: string
  beforeAll(async () => {
    rewake = await Rewake.start({ database: "postgresql", env: { ...TERMINAL_ENV } })
    sessionId = await readySession(rewake)
  })
  afterAll(() => rewake?.stop())

  const path = (rest = "") => `/api/v1/sessions/${sessionId}/workers${rest}`
  const list = async () => (await rewake.api<{ workers: WorkerView[] }>("GET", path())).body.workers
  const restored = async (worker: WorkerView) =>
    (await rewake.events(sessionId)).filter((event) => event.kind === "worker.restored" && event.worker_id === worker.id)
  const workspace = async () =>
    (await rewake.api<SessionStatusReport>("GET", `/api/v1/sessions/${sessionId}/status`)).body.worktree_path as string

  test("tabs are named, renamed, moved and closed, and a session holds so many", async () => {
    const own = await readySession(rewake)
    const at = `/api/v1/sessions/${own}/workers`
    const first = await openTerminal(rewake, own)
    const second = await openTerminal(rewake, own)
    const build = await openTerminal(rewake, own, { type: "terminal", name: "build" })
    expect([first.name, second.name, build.name]).toEqual(["Terminal 1", "Terminal 2", "build"])
    expect(first.id).toMatch(/^wrk_/)
    await rewake.api("PATCH", `${at}/${build.id}`, { name: "server", position: 0 })
    const names = async () => (await rewake.api<{ workers: WorkerView[] }>("GET", at)).body.workers.map((worker) => worker.name)
    expect(await names()).toEqual(["server", "Terminal 1", "Terminal 2"])
    expect((await rewake.api("DELETE", `${at}/${first.id}`)).status).toBe(204)
    expect((await rewake.api("DELETE", `${at}/${first.id}`)).status).toBe(404)
    expect(await names()).toEqual(["server", "Terminal 2"])
    expect((await openTerminal(rewake, own)).name).toBe("Terminal 1")
    const answers = await Promise.all(Array.from({ length: 20 }, () => rewake.api("POST", at, { type: "terminal" })))
    expect(answers.filter((answer) => answer.status === 201)).toHaveLength(17)
    expect(answers.find((answer) => answer.status === 429)?.body).toMatchObject({ code: "WORKER_LIMIT", limit: 20 })
    expect((await rewake.api("POST", at, { type: "agent", agent: "demo-forgetful" })).body).toMatchObject({ code: "AGENT_UNAVAILABLE" })
    expect((await rewake.api("POST", at, { type: "shell" })).body).toMatchObject({ code: "INVALID_INPUT" })
  })

  test("a shell starts when somebody attaches, in the workspace; a reload finds the same one, with its screen", async () => {
    const worker = await openTerminal(rewake, sessionId)
    expect(await describeTerminal(rewake, worker)).toMatchObject({ state: "none", processes: [] })
    const viewer = await view(rewake, worker, { cols: 91, rows: 33 })
    expect(viewer.attached).toMatchObject({ epoch: 1, offset: 0, restored: false, cols: 91, rows: 33 })
    expect(await viewer.run("pwd -P")).toBe(await workspace())
    expect(await viewer.run("stty size")).toBe("33 91")
    const pid = await viewer.run("echo $$")
    viewer.socket.disconnect()

    const again = await view(rewake, worker, { snapshot: true })
    expect(again.attached).toMatchObject({ epoch: 1, restored: false })
    expect(Buffer.from(again.attached?.snapshot ?? []).toString("utf8")).toContain("33 91")
    expect(await again.run("echo $$")).toBe(pid)
    expect(await restored(worker)).toEqual([])
  })

  test("two tabs at once make one process, and what is typed in one is seen in both", async () => {
    const worker = await openTerminal(rewake, sessionId)
    const [one, two] = await Promise.all([view(rewake, worker), view(rewake, worker)])
    expect(await one.run("echo $$")).toBe(await two.run("echo $$"))
    await one.type("echo seen-by-$((40+2))\r")
    await two.until(/seen-by-42/)
    await waitUntil(() => one.offset === two.offset, "both at the same place")
    expect(one.text()).toBe(two.text())
    expect(await restored(worker)).toEqual([])
  })

  test("a process that ends says how; attaching again starts another below the old output, and is written down once", async () => {
    const worker = await openTerminal(rewake, sessionId)
    const viewer = await view(rewake, worker)
    await viewer.run("echo before-the-end")
    await viewer.type("exit 3\r")
    await waitUntil(() => viewer.exits.length > 0, "the exit")
    expect(viewer.exits).toEqual([{ session_id: sessionId, worker_id: worker.id, exit_code: 3, signal: null, reason: "exited" }])

    const many = await Promise.all(Array.from({ length: 4 }, () => view(rewake, worker)))
    expect(many.filter((one) => one.attached?.restored)).toHaveLength(1)
    expect(new Set(many.map((one) => one.attached?.epoch))).toEqual(new Set([2]))
    const [first] = many
    await first?.run("echo after")
    expect(first?.text()).toMatch(/before-the-end[\s\S]*─── restored \d\d:\d\d, new shell ───[\s\S]*after/)
    await waitUntil(async () => (await restored(worker)).length > 0, "the fact")
    expect(await restored(worker)).toMatchObject([{ epoch: 2, lost: [] }])
  })

  test("an unknown worker, another session's and another person's are refused alike, and the viewer is told that it ended", async () => {
    const worker = await openTerminal(rewake, sessionId)
    const other = await readySession(rewake)
    await rewake.api("POST", "/api/v1/admin/invitations", { email: "eve@example.org", role: "user" }).then(async ({ body }) => {
      const code = new URL((body as { link: string }).link).searchParams.get("code")
      await rewake.api("POST", "/api/v1/invitations/accept", { code, name: "Eve", password: "a long enough password" })
    })
    const eve = await rewake.issueToken("eve@example.org")
    const strangers: Viewer[] = [
      new Viewer(rewake.socket(), { id: "wrk_unknown", session_id: sessionId }),
      new Viewer(rewake.socket(), { id: worker.id, session_id: other }),
      new Viewer(rewake.socket(eve), { id: worker.id, session_id: sessionId }),
    ]
    for (const viewer of strangers) {
      expect((await viewer.ask()).error).toMatchObject({ code: "NOT_FOUND" })
      await waitUntil(() => viewer.exits.length > 0, "the exit")
      expect(viewer.exits).toMatchObject([{ exit_code: 1, signal: null, reason: "not_found" }])
      await expect(viewer.type("id\r")).rejects.toThrow("NOT_FOUND")
    }
    expect((await rewake.as(eve)("GET", path())).status).toBe(404)
    expect((await rewake.as(eve)("DELETE", path(`/${worker.id}`))).status).toBe(404)
    expect((await rewake.as(eve)("GET", path(`/${worker.id}/history?before=10`))).status).toBe(404)
    expect(await describeTerminal(rewake, worker)).toMatchObject({ state: "none" })
    expect((await list()).some(({ id }) => id === worker.id)).toBe(true)
  })

  test("whoever attaches with the offset they have gets exactly the rest", async () => {
    const worker = await openTerminal(rewake, sessionId)
    const whole = await view(rewake, worker)
    await whole.run("i=0; while [ $i -lt 2000 ]; do echo line $i; i=$((i+1)); done")
    const part = await view(rewake, worker, { offset: 7_001 })
    expect(part.attached?.offset).toBe(7_001)
    await whole.run("echo and-more")
    await waitUntil(() => part.offset === whole.offset, "the rest")
    expect(part.bytes()).toEqual(whole.bytes().subarray(7_001))

    // What came while nobody looked is there as well, and earlier output can be asked for.
    part.socket.disconnect()
    await whole.run("seq 1 5000")
    const back = await view(rewake, worker, { offset: part.offset })
    await waitUntil(() => back.offset === whole.offset, "what was missed")
    expect(Buffer.concat([part.bytes(), back.bytes()])).toEqual(whole.bytes().subarray(7_001))
    const response = await fetch(`${rewake.url}${path(`/${worker.id}/history?before=9000&limit=3000`)}`, {
      headers: { authorization: `Bearer ${rewake.token}` },
    })
    expect(Number(response.headers.get("x-rewake-pty-offset"))).toBe(6_000)
    expect(Buffer.from(await response.arrayBuffer())).toEqual(whole.bytes().subarray(6_000, 9_000))
  })

  test("a page that draws slowly holds no program back: it skips to the screen as it is, and misses nothing of what follows", async () => {
    const worker = await openTerminal(rewake, sessionId)
    const page = await view(rewake, worker, { snapshot: true, window: 64 * 1024, skip: true, cols: 80, rows: 24 })
    const other = await view(rewake, worker, { skip: true })
    await page.type("yes 'much too much to read' | head -c 6000000; echo; echo all-of-it\r")
    // Its window is full and it draws nothing: the program ends all the same.
    await waitUntil(() => other.bytes().subarray(-200).includes("\nall-of-it"), "the end of the program", 60_000)
    expect(page.redraws).toEqual([])
    page.drawn(page.offset)
    const [screen] = await waitUntil(() => (page.redraws.length > 0 ? page.redraws : null), "the screen as it is")
    expect(Buffer.from(screen?.snapshot ?? []).toString("utf8")).toMatch(/too much to read\r\n(.*\r\n)?all-of-it/)
    expect(page.offset).toBeGreaterThan(6_000_000)
    await page.type("echo still-there\r")
    await page.until(/still-there[\s\S]*still-there/)
  })

  test("every byte arrives as it was, both ways", async () => {
    const worker = await openTerminal(rewake, sessionId)
    const viewer = await view(rewake, worker)
    const canary = withoutQuestions(randomBytes(3_000_000))
    writeFileSync(join(await workspace(), "canary"), canary)
    await viewer.run("stty raw -echo")
    viewer.forget()
    await viewer.type("printf BEG%s IN; cat canary; printf EN%s D\n")
    // By their number: random bytes may say END themselves.
    const output = await waitUntil(() => {
      const all = viewer.bytes()
      const at = all.indexOf("BEGIN")
      return at >= 0 && all.length >= at + 5 + canary.length + 3 ? all.subarray(at + 5, at + 5 + canary.length + 3) : null
    }, "the last byte")
    const differs = output.findIndex((byte, i) => byte !== canary[i])
    const near = (bytes: Buffer) => bytes.subarray(Math.max(0, differs - 20), differs + 20).toString("hex")
    expect(differs, `byte ${differs} of ${canary.length}: ${near(output)} instead of ${near(canary)}`).toBe(canary.length)
    expect(output.subarray(canary.length).toString()).toBe("END")

    const typed = randomBytes(200_000)
    await viewer.type(`printf 'REA%s' DY; head -c ${typed.length} > typed; printf 'TAK%s' EN\n`)
    await viewer.until(/READY/)
    const inFlight: Promise<void>[] = []
    for (let from = 0; from < typed.length; ) {
      const to = from + 1 + Math.floor(Math.random() * 9_000)
      inFlight.push(viewer.type(typed.subarray(from, to)))
      from = to
    }
    await Promise.all(inFlight)
    await viewer.until(/TAKEN/)
    expect(sha256(readFileSync(join(await workspace(), "typed")))).toBe(sha256(typed))
  })

  test("the terminal has the size of whoever used it last", async () => {
    const worker = await openTerminal(rewake, sessionId)
    const one = await view(rewake, worker, { cols: 100, rows: 30 })
    const two = await view(rewake, worker, { cols: 60, rows: 20 })
    expect(await one.run("stty size")).toBe("30 100")
    await two.type("true\r")
    await waitUntil(async () => (await two.run("stty size")) === "20 60", "the second viewer's size")
    await one.resize(120, 40)
    expect(await two.run("sleep 0.1; true")).toBe("")
    await one.type("true\r")
    await waitUntil(async () => (await one.run("stty size")) === "40 120", "the first viewer's new size")
  })

  test.each([
    ["does not draw what it got", (viewer: Viewer) => viewer.ask({ window: 64 * 1024 })],
    ["has a connection that stalls", (viewer: Viewer) => viewer.ask()],
  ])("[back-pressure] a viewer that %s while output pours costs no memory, and Ctrl-C acts at once", async (how, attach) => {
    const worker = await openTerminal(rewake, sessionId)
    const viewer = new Viewer(rewake.socket(), worker)
    await viewer.attach()
    await viewer.detach()
    const stalls = how.includes("stalls")
    expect((await attach(viewer)).error).toBeUndefined()
    viewer.forget()
    await viewer.type("yes 'a line that pours and pours' \r")
    const server = rewake.child?.pid as number
    if (stalls) {
      await waitUntil(() => viewer.bytes().length > 100_000, "the flood")
      viewer.forget()
      wire(viewer.socket).pause()
    } else await waitUntil(() => viewer.offset - (viewer.attached?.offset ?? 0) >= 64 * 1024, "a full window")
    const held = viewer.offset
    const head = async () => (await daemonPty(worker)).head
    const pours = async (bytes: number) => {
      const from = await head()
      await waitUntil(async () => (await head()) > from + bytes, "the output to go on")
    }
    // What is on its way to a viewer that stalls fills buffers first, of 1 to 17 MB; from then on nothing may be kept.
    await pours(5_000_000)
    const before = residentMegabytes(server)
    await pours(40_000_000)
    expect(residentMegabytes(server) - before).toBeLessThan(12)
    expect(viewer.offset).toBe(held)

    // Typed by another connection where the first is stuck in the network; by the same one where it only does not draw.
    const typist = stalls ? new Viewer(rewake.socket(), worker) : viewer
    if (stalls) await typist.attach({ snapshot: true, window: 64 * 1024 })
    await typist.type("\x03")
    await waitUntil(async () => (await describeTerminal(rewake, worker)).processes.length === 0, "the end of the flood", 5_000)
    if (stalls) {
      wire(viewer.socket).resume()
      typist.socket.disconnect()
    }
    viewer.socket.disconnect()
  })

  test("closing a tab ends everything that was started in it, and tells who looks", async () => {
    const worker = await openTerminal(rewake, sessionId)
    const viewer = await view(rewake, worker)
    const started = await viewer.run("(setsid sleep 1000 & echo $!); sleep 1001 & echo $!; echo $$")
    const pids = started.match(/\d{2,}/g)?.map(Number) as number[]
    expect(pids).toHaveLength(3)
    await waitUntil(async () => (await describeTerminal(rewake, worker)).processes.length > 0, "what runs in it")
    await rewake.api("DELETE", path(`/${worker.id}`))
    await waitUntil(() => viewer.exits.length > 0, "the exit")
    expect(viewer.exits).toMatchObject([{ reason: "closed" }])
    await waitUntil(() => !pids.some(isAlive), "nothing left")
    expect((await viewer.ask()).error).toMatchObject({ code: "NOT_FOUND" })
  })

  test("closed in the moment somebody opens it, nothing is left running", async () => {
    const tried = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const worker = await openTerminal(rewake, sessionId)
        const viewer = new Viewer(rewake.socket(), worker)
        await Promise.all([viewer.ask(), rewake.api("DELETE", path(`/${worker.id}`))])
        return worker.id
      }),
    )
    const { endpoint, secret } = rewake.daemon()
    const ptys = await fetch(`${endpoint}/sessions/${sessionId}/ptys`, { headers: { authorization: `Bearer ${secret}` } })
    const { ptys: left } = (await ptys.json()) as { ptys: { worker_id: string }[] }
    expect(left.filter(({ worker_id }) => tried.includes(worker_id))).toEqual([])
  })

  test("a restart is told to who looks, and they go on with the new shell", async () => {
    const worker = await openTerminal(rewake, sessionId)
    const viewer = await view(rewake, worker)
    const pid = await viewer.run("echo $$")
    expect((await rewake.api("POST", path(`/${worker.id}/restart`), { continue: false })).status).toBe(202)
    await waitUntil(() => viewer.exits.length > 0, "the exit")
    expect(viewer.exits).toMatchObject([{ reason: "restarted" }])
    const attached = await viewer.attach({ offset: viewer.offset })
    expect(attached).toMatchObject({ epoch: 2, restored: false })
    expect(await viewer.run("echo $$")).not.toBe(pid)
    expect(await restored(worker)).toHaveLength(1)
  })

  test("whoever is signed out loses their terminals, and the terminals go on", async () => {
    const worker = await openTerminal(rewake, sessionId)
    const { body } = await rewake.api<{ id: string; token: string }>("POST", "/api/v1/tokens", { name: "terminal" })
    const viewer = new Viewer(rewake.socket(body.token), worker)
    await viewer.attach()
    const pid = await viewer.run("echo $$")
    const dropped = new Promise((resolve) => viewer.socket.once("disconnect", resolve))
    await rewake.api("DELETE", `/api/v1/tokens?id=${body.id}`)
    await dropped
    const mine = await view(rewake, worker)
    expect(await mine.run("echo $$")).toBe(pid)
  })

  async function daemonPty(worker: WorkerView) {
    const { endpoint, secret } = rewake.daemon()
    const answer = await fetch(`${endpoint}/sessions/${sessionId}/ptys`, { headers: { authorization: `Bearer ${secret}` } })
    const { ptys } = (await answer.json()) as { ptys: { worker_id: string; head: number }[] }
    return ptys.find((pty) => pty.worker_id === worker.id) as { head: number }
  }
})

describe("two servers on one database", () => {
  let rewake: Rewake
  let second: Rewake
  beforeAll(async () => {
    rewake = await Rewake.start({ database: "postgresql", env: { ...TERMINAL_ENV } })
    second = await rewake.secondServer()
  })
  afterAll(async () => {
    await second?.kill9()
    await rewake?.stop()
  })

  test("either serves the same terminal, and a viewer stays when the session changes hands", async () => {
    const sessionId = await readySession(rewake)
    const worker = await openTerminal(rewake, sessionId)
    const [here, there] = await Promise.all([view(rewake, worker), view(second, worker)])
    const pid = await here.run("echo $$")
    expect(await there.run("echo $$")).toBe(pid)
    expect((await rewake.events(sessionId)).filter((event) => event.kind === "worker.restored")).toEqual([])

    await rewake.kill9()
    // The survivor takes the session over, which raises its epoch; what was attached before still types.
    await waitUntil(async () => {
      await there.type("true\r")
      return (await second.events(sessionId)).some((event) => event.kind === "recovery.receipt")
    }, "the session in other hands")
    expect(await there.run("echo $$")).toBe(pid)
    await rewake.boot()
  })
})

import { spawnSync } from "node:child_process"
import { createHash, randomBytes } from "node:crypto"
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Terminal } from "@xterm/headless"
import { afterEach, beforeEach, expect, test } from "vitest"
import { Daemon, newDataDir } from "../../support/daemon"
import { history, PtyStream, ptyState, putPty, type } from "../../support/ptys"
import { waitUntil } from "../../support/wait-until"

let dataDir: string
let daemon: Daemon
const S = "sess_o"
const W = "wrk_1"

beforeEach(async () => {
  dataDir = newDataDir()
  daemon = await Daemon.start(dataDir)
  await daemon.putSession(S)
})
afterEach(async () => {
  await daemon.stop()
  expect(daemon.mistakes()).toEqual([])
  rmSync(dataDir, { recursive: true, force: true })
})

const file = (name: string) => join(dataDir, "workspaces", S, name)
const sha256 = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex")
const segments = () => readdirSync(join(dataDir, `sessions/${S}.ptys/${W}`)).filter((name) => /\.(raw|gz)$/.test(name))
const memory = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${daemon.child.pid}/status`, "utf8"))?.[1]) / 1024

/** A process that writes a file to a terminal that changes nothing of it, and stays. */
const rawCat = (path: string) => ({ file: "/bin/sh", args: ["-c", `stty raw -echo; cat ${path}; exec sleep 1000`], env: {} })

test("every byte arrives as it was written, through stream, disk, compression, a new daemon and history", async () => {
  const every = Buffer.from(Array.from({ length: 256 }, (_, i) => i))
  const sent = Buffer.concat([every, randomBytes(3 * 1024 * 1024), every])
  writeFileSync(file("bytes"), sent)
  await putPty(daemon, S, W, { command: rawCat(file("bytes")) })
  const viewer = new PtyStream(daemon, S, W)
  await waitUntil(() => viewer.received >= sent.length, "all bytes")
  expect(sha256(viewer.bytes())).toBe(sha256(sent))
  const snapshot = new PtyStream(daemon, S, W, "output?snapshot=1")
  await snapshot.opened
  expect(snapshot.offset).toBeGreaterThan(0)
  await waitUntil(() => segments().filter((name) => name.endsWith(".raw")).length === 1, "older output is compressed")

  await daemon.kill()
  daemon = await Daemon.start(dataDir)
  const again = new PtyStream(daemon, S, W)
  await again.ended
  expect(sha256(again.bytes())).toBe(sha256(sent))
  const pages: Buffer[] = []
  for (let before = sent.length; before > 0; ) {
    const page = await history(daemon, S, W, before, 700_001)
    expect(page.offset + page.bytes.length).toBe(before)
    pages.unshift(page.bytes)
    before = page.offset
  }
  expect(sha256(Buffer.concat(pages))).toBe(sha256(sent))
})

test("what is typed arrives byte for byte, also faster than it is read", async () => {
  const typed = randomBytes(300_000)
  const command = { file: "/bin/sh", args: ["-c", `stty raw -echo; echo on; head -c ${typed.length} > typed; echo done`], env: {} }
  await putPty(daemon, S, W, { command })
  const viewer = new PtyStream(daemon, S, W)
  await viewer.until("on")
  for (let at = 0; at < typed.length; at += 60_000) await type(daemon, S, W, 1, typed.subarray(at, at + 60_000))
  await viewer.until("done")
  expect(sha256(readFileSync(file("typed")))).toBe(sha256(typed))
})

test("a program that floods a viewer that does not read costs disk, not memory; Ctrl-C ends it at once, other viewers see it", async () => {
  await putPty(daemon, S, W)
  const viewer = new PtyStream(daemon, S, W, "output?offset=0", () => undefined)
  await viewer.opened
  const stalled = new PtyStream(daemon, S, W)
  await stalled.opened
  stalled.response?.pause()
  await type(daemon, S, W, 1, "yes a line of some length, for a terminal draws many short ones slowly\r")
  await waitUntil(() => viewer.received > 15_000_000, "a flood")
  const before = memory()
  await waitUntil(() => viewer.received > 45_000_000, "more of it than is kept")
  expect(memory() - before).toBeLessThan(40)
  viewer.close()
  // Nobody reads any more: after a while the program is not held back for the one that does not.
  const { head } = await ptyState(daemon, S, W)
  await waitUntil(async () => (await ptyState(daemon, S, W)).head > head + 3_000_000, "it goes on without readers")
  expect(memory() - before).toBeLessThan(40)
  const started = Date.now()
  await type(daemon, S, W, 1, "\x03")
  await waitUntil(async () => (await ptyState(daemon, S, W)).processes.length === 0, "its end")
  expect(Date.now() - started).toBeLessThan(5000)
  const { first } = await ptyState(daemon, S, W)
  expect(first).toBeGreaterThan(0)
  // It fell behind what is kept: what it has is unbroken, then its stream ends, and it may attach again.
  stalled.response?.resume()
  await stalled.ended
  expect((await ptyState(daemon, S, W)).state).toBe("running")
})

test("a viewer that pauses misses nothing that is still kept, and holds up no other", async () => {
  const text = Array.from({ length: 60_000 }, (_, i) => `line ${i} of some length, so that it adds up\n`).join("")
  writeFileSync(file("text"), text)
  await putPty(daemon, S, W, { command: rawCat(file("text")) })
  const slow = new PtyStream(daemon, S, W)
  await slow.opened
  slow.response?.pause()
  const quick = new PtyStream(daemon, S, W)
  await waitUntil(() => quick.received === text.length, "the quick one has all")
  slow.response?.resume()
  await waitUntil(() => slow.received === text.length, "the slow one has all")
  expect(sha256(slow.bytes())).toBe(sha256(Buffer.from(text)))
})

test("what is kept is bounded: the oldest goes, offsets stay, an older offset begins at the first byte that is left", async () => {
  writeFileSync(file("big"), randomBytes(14 * 1024 * 1024))
  await putPty(daemon, S, W, { command: rawCat(file("big")) })
  const size = 14 * 1024 * 1024
  await waitUntil(async () => (await ptyState(daemon, S, W)).head === size, "all of it")
  const { first, head } = await ptyState(daemon, S, W)
  expect(head - first).toBeGreaterThanOrEqual(10 * 1024 * 1024)
  expect(head - first).toBeLessThanOrEqual(12 * 1024 * 1024)
  const viewer = new PtyStream(daemon, S, W)
  await viewer.opened
  expect(viewer.offset).toBe(first)
  await waitUntil(() => viewer.received === head - first, "the rest")
  expect(sha256(viewer.bytes())).toBe(sha256(readFileSync(file("big")).subarray(first)))
  expect(await history(daemon, S, W, first + 10, 1000)).toMatchObject({ offset: first })
  await waitUntil(() => segments().filter((name) => name.endsWith(".raw")).length === 1, "compressed but for the newest")
})

async function drawn(bytes: Buffer, cols: number, rows: number): Promise<Terminal> {
  const terminal = new Terminal({ cols, rows, scrollback: 1000, allowProposedApi: true })
  await new Promise<void>((resolve) => terminal.write(bytes, resolve))
  return terminal
}

/** All that can be seen of a terminal, and the modes that decide what its keys send. */
function look(terminal: Terminal) {
  const { active } = terminal.buffer
  const rows = Array.from({ length: active.length }, (_, row) => {
    const line = active.getLine(row)
    const cells = Array.from({ length: terminal.cols }, (__, column) => {
      const cell = line?.getCell(column)
      return [
        cell?.getChars() || " ",
        cell?.getFgColor(),
        cell?.getBgColor(),
        cell?.isBold(),
        cell?.isInverse(),
        cell?.isUnderline(),
      ].join()
    })
    return cells.join("|")
  })
  return { rows, cursor: [active.cursorX, active.baseY + active.cursorY], type: active.type, modes: { ...terminal.modes } }
}

async function sameAsRaw(cols: number, rows: number): Promise<ReturnType<typeof look>> {
  const snapshot = new PtyStream(daemon, S, W, "output?snapshot=1")
  await waitUntil(() => snapshot.snapshotLength > 0 && snapshot.received >= snapshot.snapshotLength, "a snapshot")
  const raw = await history(daemon, S, W, snapshot.offset, 1024 * 1024)
  snapshot.close()
  const [ours, theirs] = [await drawn(snapshot.snapshot, cols, rows), await drawn(raw.bytes, cols, rows)]
  expect(look(ours)).toEqual(look(theirs))
  return look(ours)
}

/** vim where it is whole; elsewhere a program that does to the terminal what vim does. */
function fullScreenProgram(): string {
  const version = spawnSync("vim", ["--version"], { encoding: "utf8" }).stdout ?? ""
  if (version.includes("+syntax") && version.includes("+mouse")) return "vim -u NONE -N -c 'syntax on | set mouse=a hlsearch' page.c"
  const draw = (lines: string) => `printf '\\033[H'; ${lines} | while read -r line; do printf '\\033[3%dm%s\\033[0m\\r\\n' 2 "$line"; done`
  const script = [
    "stty raw -echo; printf '\\033[?1049h\\033[?1h\\033=\\033[?1002h\\033[?1006h\\033[2J'",
    draw("head -n 29 page.c"),
    "head -c 10 > /dev/null",
    draw("sed -n 78,106p page.c"),
    "printf '\\033[5;9H'; sleep 1000; :",
  ]
  writeFileSync(file("vim-like"), script.join("\n"))
  return "sh ./vim-like"
}

test("vim is drawn again as it was, by a snapshot and by the daemon's successor: colours, cursor, alternate screen, modes", async () => {
  writeFileSync(file("page.c"), Array.from({ length: 200 }, (_, i) => `int value_${i} = ${i}; /* "wörter" ✓ ${i} */`).join("\n"))
  await putPty(daemon, S, W, { cols: 100, rows: 30 })
  const viewer = new PtyStream(daemon, S, W)
  await viewer.until("ready> ")
  await type(daemon, S, W, 1, `seq 1 3000; ${fullScreenProgram()}\r`)
  await viewer.until("value_10")
  await type(daemon, S, W, 1, "/value_77\r")
  await viewer.until("value_77")
  await type(daemon, S, W, 1, "zt3l:\x1b")
  await waitUntil(async () => (await ptyState(daemon, S, W)).processes[0]?.foreground, "vim in front")
  const seen = await waitUntil(async () => {
    const now = await sameAsRaw(100, 30)
    return now.rows.some((row) => row.includes("w,")) && now.type === "alternate" ? now : null
  }, "vim's screen")
  expect(seen.modes).toMatchObject({ applicationCursorKeysMode: true })
  expect(seen.modes.mouseTrackingMode).not.toBe("none")

  await daemon.kill()
  daemon = await Daemon.start(dataDir)
  const after = await sameAsRaw(100, 30)
  expect(after.type).toBe("alternate")
  expect(await ptyState(daemon, S, W)).toMatchObject({
    lost: [{ command: expect.stringContaining("vim"), foreground: true, alive: false }],
  })
  await putPty(daemon, S, W, { cols: 100, rows: 30 })
  const shell = await waitUntil(async () => {
    const now = await sameAsRaw(100, 30)
    return now.rows.some((row) => row.startsWith("r,") && row.includes("|>,")) ? now : null
  }, "a shell below")
  expect(shell).toMatchObject({ type: "normal", modes: { mouseTrackingMode: "none", applicationCursorKeysMode: false } })
})

test("a screen that was resized and bytes that are no characters are drawn again as they were", async () => {
  await putPty(daemon, S, W)
  const viewer = new PtyStream(daemon, S, W)
  await viewer.until("ready> ")
  await type(daemon, S, W, 1, "printf 'a\\200\\377\\303b %s' \"$(seq 1 200 | tr '\\n' ' ')\"\r")
  await viewer.until("199 200")
  await daemon.call("PUT", `/sessions/${S}/ptys/${W}/size`, { body: { cols: 40, rows: 10 } })
  await type(daemon, S, W, 1, "printf '%s' \"$(seq 300 400 | tr '\\n' ' ')\"; echo end\r")
  // The prompt is the last that is written; a snapshot may be of an earlier moment.
  await viewer.until(/400 end\r\n.*ready> $/s)
  const { head } = await ptyState(daemon, S, W)
  const screenAtHead = () =>
    waitUntil(async () => {
      const snapshot = new PtyStream(daemon, S, W, "output?snapshot=1")
      await waitUntil(() => snapshot.snapshotLength > 0 && snapshot.received >= snapshot.snapshotLength, "a snapshot")
      snapshot.close()
      return snapshot.offset === head ? look(await drawn(snapshot.snapshot, 40, 10)) : null
    }, "a snapshot of all the output")
  const before = await screenAtHead()
  await daemon.kill()
  rmSync(join(dataDir, `sessions/${S}.ptys/${W}/screen`), { force: true })
  daemon = await Daemon.start(dataDir)
  expect(await screenAtHead()).toEqual(before)
})

test("a program's question to the terminal is answered once, with no viewer and with two", async () => {
  const ask = { file: "/bin/sh", args: ["-c", `stty raw -echo; printf 'ab\\033[6n'; head -c 6 | od -An -c; sleep 0.2; echo over`], env: {} }
  await putPty(daemon, S, W, { command: ask })
  const viewers = [new PtyStream(daemon, S, W), new PtyStream(daemon, S, W)] as const
  for (const viewer of viewers) await viewer.until("over")
  const text = await viewers[0].until("over")
  expect(text.replaceAll(/\s+/g, "")).toContain("033[1;3R")
})

import { execFileSync, spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { type IPty, spawn } from "node-pty"
import { Daemon } from "../support/daemon"
import { PtyStream, plainShell, ptyState, putPty, type } from "../support/ptys"
import { waitUntil } from "../support/wait-until"
import { openBrowserTerminal } from "./browser-terminal"
import type { Figure } from "./main"

const S = "sess_b"
const SIZE = { cols: 120, rows: 40 }
const TEXT_BYTES = 30_000_000
const ROUNDS = 3
const KEYS = 300
const KEY_GAP_MS = 15
const IDLE_TERMINALS = 100
/** Longer than the daemon keeps the screen of a quiet terminal in memory. */
const QUIET_MS = 13_000

/** Terminals through the daemon's stream and on the page, next to tmux and to a bare terminal in the same run. */
export async function measureTerminals(): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), "rewake-bench-terminals-"))
  const dataDir = join(folder, "data")
  mkdirSync(dataDir)
  const daemon = await Daemon.start(dataDir)
  try {
    await daemon.putSession(S)
    return [
      ...(await measureMemory(daemon)),
      ...(await measureThroughput(daemon, folder)),
      ...(await measureEcho(daemon)),
      ...(await measureReattach(daemon)),
    ]
  } finally {
    await daemon.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function measureMemory(daemon: Daemon): Promise<Figure[]> {
  const open = async (name: string) => {
    await putPty(daemon, S, name, SIZE)
    const viewer = new PtyStream(daemon, S, name)
    await viewer.until("ready> ")
    viewer.close()
  }
  // What the first one costs once: the addon, the screen's code.
  await open("wrk_first")
  await delay(QUIET_MS)
  const before = memoryOf(daemon)
  const names = Array.from({ length: IDLE_TERMINALS }, (_, i) => `wrk_idle${i}`)
  for (const name of names) await open(name)
  await delay(QUIET_MS)
  const each = (memoryOf(daemon) - before) / IDLE_TERMINALS
  for (const name of names) await daemon.call("DELETE", `/sessions/${S}/ptys/${name}`)
  return [
    {
      ...{ what: `memory per idle terminal, of ${IDLE_TERMINALS}`, ours: `${each.toFixed(2)} MB plus the shell`, baseline: "–" },
      ...{ ratio: "–", aim: "< 1 MB" },
    },
  ]
}

async function measureThroughput(daemon: Daemon, folder: string): Promise<Figure[]> {
  const lines = Array.from(
    { length: 1000 },
    (_, i) => `${i} some words of a log, \x1b[3${i % 8}mand one in colour\x1b[0m, and the rest of the line\n`,
  )
  const text = lines.join("").repeat(Math.ceil(TEXT_BYTES / lines.join("").length))
  const path = join(folder, "text")
  writeFileSync(path, text)
  const hasTmux = spawnSync("tmux", ["-V"]).status === 0
  const stream: number[] = []
  const page: number[] = []
  const theirs: number[] = []
  const browser = await openBrowserTerminal()
  try {
    for (let round = 0; round < ROUNDS; round++) {
      stream.push(await catThroughDaemon(daemon, path, round))
      if (browser) page.push(await browser.cat(path))
      if (hasTmux) theirs.push(await catThroughTmux(path))
    }
  } finally {
    await browser?.close()
  }
  const rate = (ms: number) => `${(text.length / 1000 / ms).toFixed(1)} MB/s`
  const figure = (viewer: string, took: number[]): Figure => {
    const [a, b] = [Math.min(...took), Math.min(...theirs)]
    return {
      what: `cat of ${TEXT_BYTES / 1e6} MB to ${viewer}`,
      ours: took.length > 0 ? rate(a) : "not measured",
      baseline: hasTmux ? `${rate(b)} tmux attach` : "tmux is not installed",
      ratio: hasTmux && took.length > 0 ? `${(b / a).toFixed(2)}×` : "–",
      aim: "≥ 0.8×",
    }
  }
  return [figure("the daemon's stream", stream), figure("the page in a browser", page)]
}

async function catThroughDaemon(daemon: Daemon, path: string, round: number): Promise<number> {
  const name = `wrk_cat${round}`
  await putPty(daemon, S, name, SIZE)
  let tail = ""
  let look: () => void = () => undefined
  const viewer = new PtyStream(daemon, S, name, "output?offset=0", (bytes) => {
    tail = (tail + bytes.subarray(-200).toString("latin1")).slice(-400)
    look()
  })
  const until = (word: string) =>
    new Promise<void>((done) => {
      look = () => tail.includes(word) && done()
      look()
    })
  await until("ready> ")
  const started = performance.now()
  await type(daemon, S, name, 1, `cat ${path}; echo all of$((1000 + ${round}))\r`)
  await until(`all of${1000 + round}`)
  const took = performance.now() - started
  viewer.close()
  await daemon.call("DELETE", `/sessions/${S}/ptys/${name}`)
  return took
}

async function catThroughTmux(path: string): Promise<number> {
  const socket = ["-L", `rewake-bench-${process.pid}`, "-f", "/dev/null"]
  const shell = [plainShell.file, ...plainShell.args]
  const client = bare("tmux", [...socket, "new-session", ...shell], { ...plainShell.env })
  try {
    await client.until("ready> ")
    const started = performance.now()
    client.pty.write(`cat ${path}; echo all of$((1000 + 7))\r`)
    await client.until("all of1007")
    return performance.now() - started
  } finally {
    execFileSync("tmux", [...socket, "kill-server"])
  }
}

/** A terminal without a daemon. */
function bare(file: string, args: string[], env: Record<string, string> = {}) {
  const pty: IPty = spawn(file, args, { ...SIZE, encoding: null, env: { ...process.env, TERM: "xterm-256color", ...env } })
  let seen = ""
  let look: () => void = () => undefined
  pty.onData((data) => {
    seen = (seen + Buffer.from(data).toString("latin1")).slice(-8000)
    look()
  })
  const until = (word: string) =>
    new Promise<void>((done) => {
      look = () => {
        if (!seen.includes(word)) return
        seen = ""
        done()
      }
      look()
    })
  return { pty, until }
}

const ECHO = ["-c", "stty raw -echo; echo on; exec cat"]

async function measureEcho(daemon: Daemon): Promise<Figure[]> {
  await putPty(daemon, S, "wrk_echo", { ...SIZE, command: { file: "/bin/sh", args: ECHO, env: {} } })
  let got = 0
  let heard: () => void = () => undefined
  const viewer = new PtyStream(daemon, S, "wrk_echo", "output?offset=0", (bytes) => {
    got += bytes.length
    heard()
  })
  await waitUntil(() => got >= 3, "the echo is on")
  const client = bare("/bin/sh", ECHO)
  await client.until("on")
  const [ours, plain]: [number[], number[]] = [[], []]
  // Taken in turns, so that whatever else the machine does falls on both.
  for (let i = 0; i < KEYS; i++) {
    const expected = got + 1
    ours.push(
      await timed(async () => {
        const echoed = new Promise<void>((done) => {
          heard = () => got >= expected && done()
        })
        await Promise.all([type(daemon, S, "wrk_echo", 1, "x"), echoed])
      }),
    )
    plain.push(
      await timed(async () => {
        const echoed = client.until("x")
        client.pty.write("x")
        await echoed
      }),
    )
    await delay(KEY_GAP_MS)
  }
  viewer.close()
  client.pty.kill("SIGKILL")
  return ([50, 99] as const).map((p) => {
    const [a, b] = [percentile(ours, p), percentile(plain, p)]
    return {
      ...{ what: `echo of a key, p${p}`, ours: `${a.toFixed(1)} ms`, baseline: `${b.toFixed(1)} ms bare terminal` },
      ...{ ratio: `+${(a - b).toFixed(1)} ms`, aim: p === 99 ? "< +15 ms" : "–" },
    }
  })
}

async function measureReattach(daemon: Daemon): Promise<Figure[]> {
  await putPty(daemon, S, "wrk_long", SIZE)
  const shell = new PtyStream(daemon, S, "wrk_long")
  await shell.until("ready> ")
  await type(daemon, S, "wrk_long", 1, "seq 1 1300000; echo d\\one\r")
  await shell.until("done\r\n")
  shell.close()
  const attach = () =>
    timed(async () => {
      const viewer = new PtyStream(daemon, S, "wrk_long", "output?snapshot=1", () => undefined)
      await viewer.opened
      await viewer.untilReceived(viewer.snapshotLength)
      viewer.close()
    })
  const { head, first } = await ptyState(daemon, S, "wrk_long")
  await attach()
  const warm = await attach()
  await delay(QUIET_MS)
  const cold = await attach()
  return [
    {
      ...{
        what: `reattach, ${((head - first) / 1e6).toFixed(0)} MB of scrollback`,
        ours: `${warm.toFixed(0)} ms, ${cold.toFixed(0)} ms after a silence`,
      },
      ...{ baseline: "–", ratio: "–", aim: "< 100 ms" },
    },
  ]
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}

const percentile = (values: number[], p: number) =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor((values.length * p) / 100))] as number

const memoryOf = (daemon: Daemon): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${daemon.child.pid}/status`, "utf8"))?.[1]) / 1024

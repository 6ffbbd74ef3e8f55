import { spawn } from "node:child_process"
import { once } from "node:events"
import { chmodSync, fdatasync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { delimiter, join, resolve } from "node:path"
import { createInterface } from "node:readline"
import { promisify } from "node:util"
import { Server } from "socket.io"
import { io } from "socket.io-client"
import { follow, Rewake } from "../support/server"
import type { Figure } from "./main"

const COUNT = 200
/** Further apart than the daemon gathers deltas, so that each chunk travels alone, in ours as in the baseline. */
const GAP_MS = 60
const AGENT = resolve("tests/bench/timed-agent.mjs")
const sync = promisify(fdatasync)
const now = () => performance.timeOrigin + performance.now()

/** From the agent's stdout to a subscribed client, next to a bare pipe, the same two fsyncs and a bare emit. */
export async function measureLatency(): Promise<Figure[]> {
  const ours = await throughRewake()
  const bare = await barePipe()
  return ([50, 99] as const).map((p) => {
    const [a, b] = [percentile(ours, p), percentile(bare, p)]
    return {
      what: `agent's stdout to client, p${p}`,
      ours: `${a.toFixed(1)} ms`,
      baseline: `${b.toFixed(1)} ms pipe + 2 fsyncs + emit`,
      ratio: `${(a / b).toFixed(2)}×`,
      aim: "≤ 2×",
    }
  })
}

const percentile = (values: number[], p: number) =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor((values.length * p) / 100))] as number

async function throughRewake(): Promise<number[]> {
  const bin = mkdtempSync(join(tmpdir(), "rewake-bench-bin-"))
  const program = join(bin, "gemini")
  writeFileSync(program, `#!/bin/sh\nexec "${process.execPath}" "${AGENT}"\n`)
  chmodSync(program, 0o755)
  const rewake = await Rewake.start({ env: { PATH: `${bin}${delimiter}${process.env.PATH ?? ""}` } })
  try {
    const { task, session } = await rewake.createTask(`speak 3 ${GAP_MS}`, { agent: "gemini" })
    const viewer = follow(rewake, session.id)
    await viewer.until((event) => event.kind === "run.completed", "the warm-up")
    const latencies: number[] = []
    viewer.socket.on("session.message.updated", (event: { kind: string; content: string }) => {
      if (event.kind === "message.delta") latencies.push(now() - Number(event.content))
    })
    const head = viewer.seen.at(-1)?.seq ?? 0
    await rewake.append(task.id, `speak ${COUNT} ${GAP_MS}`)
    // By what is pushed: asking the server again and again would be measured too.
    await viewer.until((event) => event.kind === "run.completed" && event.seq > head, "the end")
    return latencies.filter(Number.isFinite)
  } finally {
    await rewake.stop()
    rmSync(bin, { recursive: true, force: true })
  }
}

async function barePipe(): Promise<number[]> {
  const folder = mkdtempSync(join(tmpdir(), "rewake-bench-"))
  const http = createServer()
  const server = new Server(http)
  http.listen(0, "127.0.0.1")
  await once(http, "listening")
  const client = io(`http://127.0.0.1:${(http.address() as AddressInfo).port}`, { transports: ["websocket"] })
  await once(client as never, "connect")
  const latencies: number[] = []
  client.on("delta", ({ text }: { text: string }) => latencies.push(now() - Number(text)))
  const files = ["spool", "journal"].map((name) => openSync(join(folder, name), "a"))
  const child = spawn(process.execPath, [AGENT, "--bare", String(COUNT), String(GAP_MS)], { stdio: ["ignore", "pipe", "inherit"] })
  const work: Promise<void>[] = []
  createInterface({ input: child.stdout }).on("line", (line) => {
    work.push(
      (async () => {
        for (const fd of files) {
          writeSync(fd, `${line}\n`)
          await sync(fd)
        }
        server.emit("delta", JSON.parse(line))
      })(),
    )
  })
  await once(child, "exit")
  await Promise.all(work)
  const finished = new Promise<void>((done) => client.once("end", done))
  server.emit("end")
  await finished
  client.disconnect()
  await server.close()
  rmSync(folder, { recursive: true, force: true })
  return latencies
}

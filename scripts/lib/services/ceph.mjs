// A real S3 server of the tests' own: one Ceph monitor, one object store in memory and the gateway, on this machine alone.
import { spawn } from "node:child_process"
import { randomBytes, randomUUID } from "node:crypto"
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import http from "node:http"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { capture, lastLines, StepFailed } from "../steps.mjs"
import { findProgram } from "./find-program.mjs"

export const CEPH_PACKAGES = ["ceph-mon", "ceph-osd", "radosgw"]
const PROGRAMS = ["ceph", "ceph-mon", "ceph-osd", "monmaptool", "radosgw", "radosgw-admin"]
const STEP_TIMEOUT_MS = 60_000
const STOP_TIMEOUT_MS = 3_000
/** A program of Ceph may speak before it has heard the cluster's id; the monitor refuses it, and the next try succeeds. */
const TOO_EARLY = /wrong fsid|EPERM|Operation not permitted/
const TRIES = 10

export const findCeph = () => (PROGRAMS.every((name) => findProgram(name) !== null) ? "ceph" : null)

/** `bucket` exists already; the keys may do everything in it. */
export async function startCeph() {
  const folder = mkdtempSync(join(tmpdir(), "rewake-ceph-"))
  const daemons = []
  const stop = async () => {
    for (const daemon of daemons.reverse()) {
      if (daemon.exitCode !== null || daemon.signalCode !== null) continue
      const gone = new Promise((resolve) => daemon.once("exit", resolve))
      daemon.kill("SIGTERM")
      const late = setTimeout(() => daemon.kill("SIGKILL"), STOP_TIMEOUT_MS)
      await gone
      clearTimeout(late)
    }
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
  try {
    return { ...(await bringUp(folder, daemons)), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function bringUp(folder, daemons) {
  const [monitorPort, port] = [await freePort(), await freePort()]
  const conf = join(folder, "ceph.conf")
  const fsid = randomUUID()
  for (const name of ["mon", "osd", "run", "log", "rgw"]) mkdirSync(join(folder, name))
  writeFileSync(conf, configuration(folder, fsid, port))
  const run = (program, ...args) => finished(program, ["-c", conf, ...args])
  const launch = async (name, isReady, program, ...args) => {
    const log = join(folder, "log", `${name}.out`)
    for (let tries = 1; ; tries++) {
      const output = openSync(log, "w")
      const child = spawn(program, ["-c", conf, ...args, "-f"], { stdio: ["ignore", output, output] })
      closeSync(output)
      daemons.push(child)
      const problem = await untilReady(child, isReady)
      if (problem === null) return
      const words = readFileSync(log, "utf8")
      if (tries === TRIES || !TOO_EARLY.test(words)) throw new StepFailed(`${lastLines(words)}\n${program} ${problem}`)
    }
  }
  const ceph = async (...args) => (await capture("ceph", ["-c", conf, "--connect-timeout", "2", ...args], { timeoutMs: 5000 })).output

  await finished("monmaptool", [
    "--create",
    "--clobber",
    "--fsid",
    fsid,
    "--addv",
    "a",
    `[v1:127.0.0.1:${monitorPort}]`,
    join(folder, "monmap"),
  ])
  await run("ceph-mon", "-i", "a", "--mkfs", "--monmap", join(folder, "monmap"))
  await launch("mon", async () => /quorum/.test(await ceph("mon", "stat")), "ceph-mon", "-i", "a")

  await run("ceph-osd", "-i", "0", "--mkfs", "--no-mon-config")
  // The store names itself when it is made; registered under any other name it would be refused.
  await run("ceph", "osd", "new", readFileSync(join(folder, "osd", "fsid"), "utf8").trim(), "0")
  await launch("osd", async () => /1 up/.test(await ceph("osd", "stat")), "ceph-osd", "-i", "0")
  await launch("rgw", () => answers(port), "radosgw", "-n", "client.rgw")
  const keys = { accessKeyId: `TEST${randomBytes(8).toString("hex").toUpperCase()}`, secretAccessKey: randomBytes(20).toString("hex") }
  const names = ["--uid=tests", "--display-name=tests", `--access-key=${keys.accessKeyId}`, `--secret-key=${keys.secretAccessKey}`]
  await run("radosgw-admin", "-n", "client.rgw", "user", "create", ...names)
  return { endpoint: `http://127.0.0.1:${port}`, credentials: keys }
}

async function finished(program, args) {
  for (let tries = 1; ; tries++) {
    const { code, output } = await capture(program, args, { timeoutMs: STEP_TIMEOUT_MS })
    if (code === 0) return
    if (tries === TRIES || !TOO_EARLY.test(output)) throw new StepFailed(`${lastLines(output)}\n${program} ended with code ${code}`)
  }
}

/** Null when it is ready; otherwise what became of it. */
async function untilReady(child, look) {
  const deadline = Date.now() + STEP_TIMEOUT_MS
  while (Date.now() < deadline) {
    if (child.exitCode !== null) return `ended with code ${child.exitCode}`
    if (await look()) return null
    await sleep(50)
  }
  return `was not ready within ${STEP_TIMEOUT_MS / 1000} s`
}

function answers(port) {
  return new Promise((resolve) => {
    const request = http.get({ host: "127.0.0.1", port, timeout: 1000, agent: false }, (response) => {
      response.resume()
      resolve(response.statusCode === 200)
    })
    request.on("timeout", () => request.destroy())
    request.on("error", () => resolve(false))
  })
}

/** Authentication between the daemons is off: they listen on the loopback address only. */
function configuration(folder, fsid, port) {
  return `[global]
fsid = ${fsid}
monmap = ${folder}/monmap
public addr = 127.0.0.1
cluster addr = 127.0.0.1
ms bind msgr2 = false
auth cluster required = none
auth service required = none
auth client required = none
run dir = ${folder}/run
admin socket = ${folder}/run/$name.$pid.asok
log file = ${folder}/log/$name.log
pid file = ${folder}/run/$name.pid
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 4
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
mon allow pool size one = true
mon data avail crit = 1
mon max pg per osd = 2000
[mon]
mon data = ${folder}/mon
mon initial members = a
[osd]
osd data = ${folder}/osd
osd objectstore = memstore
memstore device bytes = 4294967296
osd max object name len = 256
osd max object namespace len = 64
osd class load list = *
osd class default list = *
[client.rgw]
rgw data = ${folder}/rgw
rgw frontends = beast endpoint=127.0.0.1:${port}
rgw dynamic resharding = false
rgw run sync thread = false
`
}

function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once("error", reject)
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address()
      probe.close(() => resolve(port))
    })
  })
}

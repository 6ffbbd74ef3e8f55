// A PostgreSQL server of the tests' own: temporary folder, free port.
import { execFileSync, spawn } from "node:child_process"
import {
  chownSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { startTimeOf } from "../process-identity.mjs"
import { capture, lastLines, runQuietly, StepFailed } from "../steps.mjs"
import { findProgram } from "./find-program.mjs"

const FOLDER_PREFIX = "rewake-postgres-"
const START_TIMEOUT_MS = 30_000
const STOP_TIMEOUT_MS = 10_000
/** Tests kill processes, never the machine or this server: what it has written to the kernel is kept without an fsync. */
const SETTINGS = { fsync: "off", full_page_writes: "off", synchronous_commit: "on", max_connections: "200", listen_addresses: "127.0.0.1" }

/** The folder of PostgreSQL's programs, newest version first, or null. */
export function findPostgres() {
  const onPath = findProgram("initdb")
  const versions = existsSync("/usr/lib/postgresql") ? readdirSync("/usr/lib/postgresql") : []
  const folders = versions.sort((a, b) => Number(b) - Number(a)).map((version) => `/usr/lib/postgresql/${version}/bin`)
  if (onPath !== null) folders.unshift(dirname(realpathSync(onPath)))
  // A link to one program is not an installation: all three must stand together.
  return folders.find((folder) => ["initdb", "postgres", "pg_isready"].every((name) => existsSync(join(folder, name)))) ?? null
}

/** Starts a server; `url` may create databases. */
export async function startPostgres(bin = findPostgres()) {
  const account = accountForServer()
  const parent = parentFolder(account)
  removeAbandoned(parent)
  const folder = mkdtempSync(join(parent, FOLDER_PREFIX))
  if (account.uid !== undefined) chownSync(folder, account.uid, account.gid)

  const data = join(folder, "data")
  const initdb = ["-D", data, "-U", "app", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]
  await runQuietly(join(bin, "initdb"), initdb, { ...account, cwd: folder })

  const port = await freePort()
  const settings = { ...SETTINGS, port, unix_socket_directories: folder }
  const log = openSync(join(folder, "postgres.log"), "a")
  const server = spawn(
    join(bin, "postgres"),
    ["-D", data, ...Object.entries(settings).flatMap(([key, value]) => ["-c", `${key}=${value}`])],
    {
      ...account,
      cwd: folder,
      // Ctrl-C goes to the whole group of the terminal; the database has to outlive the tests that it ends.
      detached: true,
      stdio: ["ignore", log, log],
    },
  )
  const exited = new Promise((resolve) => server.once("exit", resolve))
  server.unref()
  writeFileSync(join(folder, "owner.json"), JSON.stringify({ runner: identity(process.pid), server: identity(server.pid) }))

  const stop = async () => {
    if (server.exitCode === null && server.signalCode === null) {
      server.kill("SIGINT")
      const late = setTimeout(() => server.kill("SIGQUIT"), STOP_TIMEOUT_MS)
      await exited
      clearTimeout(late)
    }
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    await untilReady(bin, port, server)
  } catch (error) {
    const output = readFileSync(join(folder, "postgres.log"), "utf8")
    await stop()
    throw new StepFailed(`${lastLines(output)}\n${error.message}`)
  }
  return { url: `postgresql://app@127.0.0.1:${port}/postgres`, pid: server.pid, stop }
}

/** PostgreSQL refuses to run as root; Debian's package makes the user it runs as. */
function accountForServer() {
  if (process.getuid?.() !== 0) return {}
  const id = (flag) => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }))
  return { uid: id("-u"), gid: id("-g") }
}

/** A temporary folder that the server's account can enter: one below root's own would refuse it. */
function parentFolder(account) {
  const candidates = [tmpdir(), "/tmp", "/var/tmp"]
  const found = account.uid === undefined ? candidates[0] : candidates.find(isOpenToAll)
  if (found === undefined) throw new StepFailed(`No temporary folder that PostgreSQL's user can enter: ${candidates.join(", ")}`)
  return found
}

function isOpenToAll(folder) {
  const stats = statSync(folder, { throwIfNoEntry: false })
  if (stats === undefined || (stats.mode & 0o001) === 0) return false
  return dirname(folder) === folder || isOpenToAll(dirname(folder))
}

const identity = (pid) => ({ pid, startTime: startTimeOf(pid) })
const isAlive = ({ pid, startTime }) => startTime !== null && startTimeOf(pid) === startTime

/** A test run that was killed could not stop its server. */
function removeAbandoned(parent) {
  for (const name of readdirSync(parent)) {
    if (!name.startsWith(FOLDER_PREFIX)) continue
    const folder = join(parent, name)
    try {
      const { runner, server } = JSON.parse(readFileSync(join(folder, "owner.json"), "utf8"))
      if (isAlive(runner)) continue
      if (isAlive(server)) process.kill(server.pid, "SIGQUIT")
      rmSync(folder, { recursive: true, force: true })
    } catch {
      // Being made right now by another run, or not ours to remove.
    }
  }
}

async function untilReady(bin, port, server) {
  const deadline = Date.now() + START_TIMEOUT_MS
  while (Date.now() < deadline) {
    if (server.exitCode !== null) throw new Error(`postgres ended with code ${server.exitCode}`)
    const { code } = await capture(join(bin, "pg_isready"), ["-q", "-h", "127.0.0.1", "-p", String(port), "-U", "app", "-d", "postgres"])
    if (code === 0) return
    await sleep(50)
  }
  throw new Error(`PostgreSQL did not answer within ${START_TIMEOUT_MS / 1000} s`)
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

import { spawn } from "node:child_process"
import { closeSync, existsSync, mkdirSync, openSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { AgentctlFile, PROTOCOL_VERSION } from "../../lib/contracts/agentctl/protocol"
import { DURATIONS } from "../../lib/host/durations"
import { isFolderLocked } from "../../lib/host/folder-lock"
import { killPoint } from "../../lib/host/kill-point"
import { isSameProcess } from "../../lib/host/process-identity"
import type { Logger } from "../platform/logger"
import { type AgentctlClient, createAgentctlClient } from "./agentctl-client"
import { type Executor, LaunchFailed, type PlacedExecutor, type Probe } from "./executor"
import type { Place } from "./place"

/** A daemon not healthy by then is reported as failed; the session stays open for another try. */
const LAUNCH_TIMEOUT_MS = 20_000
/** agentctl's exit code when another daemon holds the folder. */
const FOLDER_IS_LOCKED = 3

const ELSEWHERE = "this session is on another server"
const UNPUBLISHED: Probe = { kind: "unknown", why: "agentctl lives, but its file run/agentctl.json is missing or damaged" }

type Options = {
  data_dir: string
  place: Place
  /** Other servers may use the same database. Where none can, every session is here, whatever its row says. */
  shared: boolean
  programs: string
  build: string
  node: string
  env: Record<string, string>
  orphan_hours: number
  umask: number
  logger: Logger
}

/** agentctl on this machine: one detached daemon for every session of the data folder, which outlives the server. */
export function createStandaloneExecutor(options: Options): Executor {
  const file = join(options.data_dir, "run", "agentctl.json")
  const lock = join(options.data_dir, "run", "agentctl.lock")
  let launching: Promise<AgentctlClient> | null = null

  /** A row of before places were recorded belongs to the folder whose daemon keeps its spool. */
  function isHere({ session_id, place_id, agentctl_instance_id }: PlacedExecutor): boolean {
    if (!options.shared) return true
    if (place_id !== null) return options.place.ids.includes(place_id)
    return agentctl_instance_id === null || existsSync(join(options.data_dir, "sessions", `${session_id}.messages.jsonl`))
  }

  /** Whatever its file says: a daemon that holds the folder lives, and agents with it. */
  function deadUnlessLocked(why: string): Probe {
    try {
      return isFolderLocked(lock) ? UNPUBLISHED : { kind: "dead", why }
    } catch (error) {
      return { kind: "unknown", why: `the lock of agentctl's folder cannot be read: ${String(error)}` }
    }
  }

  async function probe(): Promise<Probe> {
    const published = readPublished(file)
    if (!published) return deadUnlessLocked("no agentctl was started in this folder")
    const client = createAgentctlClient({ url: published.endpoint, secret: published.secret, instance_id: published.instance_id })
    try {
      const health = await client.health(DURATIONS.probeMs)
      if (health.instance_id !== published.instance_id) return deadUnlessLocked("another program answers at its address")
      if (health.protocol > PROTOCOL_VERSION)
        return { kind: "unknown", why: `agentctl speaks protocol ${health.protocol}, newer than this server's` }
      return { kind: "alive", client }
    } catch {
      if (isSameProcess(published.pid, published.start_time)) return { kind: "unknown", why: "agentctl lives but does not answer" }
      return deadUnlessLocked("agentctl has ended")
    }
  }

  async function start(): Promise<AgentctlClient> {
    const deadline = Date.now() + LAUNCH_TIMEOUT_MS
    let child: ReturnType<typeof spawnDaemon> | null = null
    let why = "agentctl was started but did not answer in time"
    while (Date.now() < deadline) {
      const found = await probe()
      if (found.kind === "alive") return found.client
      if (found.kind === "unknown") why = `${found.why}; it was left alone`
      const code = child?.exitCode() ?? null
      if (code !== null && code !== FOLDER_IS_LOCKED)
        throw new LaunchFailed("launch_failed", `agentctl ended at once with code ${code}; see logs/agentctl.log in the data folder`)
      // Another server's daemon may have held the folder for a moment and be gone again.
      if (found.kind === "dead" && (child === null || code === FOLDER_IS_LOCKED)) {
        child = spawnDaemon(options)
        killPoint("launch.spawned")
      }
      await delay(25)
    }
    throw new LaunchFailed("unreachable", why)
  }

  async function launch(): Promise<AgentctlClient> {
    const found = await probe()
    if (found.kind === "alive") return found.client
    // Its file will be there in a moment: it is just starting, or writes a damaged one again.
    if (found.kind === "unknown" && found !== UNPUBLISHED) throw new LaunchFailed("unreachable", `${found.why}; it was left alone`)
    launching ??= start().finally(() => {
      launching = null
    })
    return launching
  }

  return {
    place_id: options.place.id,
    isHere,
    async launch(executor) {
      if (!isHere(executor)) throw new LaunchFailed("unreachable", `${ELSEWHERE}; it was left alone`)
      return launch()
    },
    probe: async (executor) => (isHere(executor) ? probe() : { kind: "unknown", why: ELSEWHERE }),
    async reconnect(executor) {
      const found: Probe = isHere(executor) ? await probe() : { kind: "unknown", why: ELSEWHERE }
      return found.kind === "alive" ? found.client : null
    },
    async stop() {
      const found = await probe()
      if (found.kind === "alive") await found.client.shutdown()
    },
  }
}

function readPublished(file: string) {
  try {
    return AgentctlFile.parse(JSON.parse(readFileSync(file, "utf8")))
  } catch {
    return null
  }
}

/** Detached and without pipes: with either, the daemon would die with the server that started it. */
function spawnDaemon(options: Options) {
  const logs = join(options.data_dir, "logs")
  mkdirSync(logs, { recursive: true, mode: 0o700 })
  const output = openSync(join(logs, "agentctl.out"), "a", 0o600)
  const child = spawn(
    options.node,
    [
      join(options.programs, "agentctl.mjs"),
      ...["--data-dir", options.data_dir],
      ...["--build", options.build],
      ...["--native-binding", join(options.programs, "better_sqlite3.node")],
      ...["--orphan-hours", String(options.orphan_hours)],
      ...["--umask", options.umask.toString(8)],
    ],
    {
      detached: true,
      stdio: ["ignore", output, output],
      env: { ...options.env, REWAKE_DATA_DIR: options.data_dir } as unknown as NodeJS.ProcessEnv,
      cwd: options.data_dir,
    },
  )
  child.on("error", (error) => options.logger.error({ err: error }, "agentctl could not be started"))
  child.unref()
  closeSync(output)
  options.logger.info({ pid: child.pid }, "agentctl started")
  return { exitCode: () => child.exitCode }
}

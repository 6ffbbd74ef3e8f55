import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { DaemonSession } from "../../lib/contracts/agentctl/protocol"
import type { PtyState } from "../../lib/contracts/agentctl/ptys"
import { isSameProcess, processStartTime } from "../../lib/host/process-identity"
import { type Database, openDatabase } from "../../server/platform/database"
import { ARMED_FILE, type Armed, FIRED_FILE, type Fired } from "../replacements/kill-point"
import { type Answer, Rewake } from "../support/server"
import { TERMINAL_ENV } from "../support/terminal"
import { waitUntil } from "../support/wait-until"
import { type Setting, traitsOf } from "./schedule"

/** A call that takes longer hangs. */
const CALL_LIMIT_MS = 40_000
/** Starting may be killed on purpose a few times; more often than this it does not start at all. */
const MOST_STARTS = 6

/** Two servers take over from each other soon; a lease lapses in the longer outages, and in nothing that a busy machine does. */
const SHORT_LEASE = { leaseMs: 8_000, leaseRenewalMs: 1_000, sweepMs: 1_000, queryMs: 3_000 }
const EXPIRING = { APPEND_CHAT_TASK_EXPIRE_HOURS: String(2 / 3600), REAPER_INTERVAL_SECONDS: "1" }

export type OurProcess = { pid: number; parent: number; session_id: string | null; worker_id: string | null; command: string }

/** One data folder and database, its servers and its daemon: what schedules are carried out upon, one after the other. */
export class Place {
  private armings = 0
  private readonly starting = new Map<Rewake, Promise<void>>()
  private outage: NodeJS.Timeout | null = null
  private frozen: { pid: number; timer: NodeJS.Timeout } | null = null

  private constructor(
    readonly setting: Setting,
    readonly servers: readonly Rewake[],
    readonly db: Database,
  ) {}

  static async open(setting: Setting): Promise<Place> {
    const { database, servers: wanted, expiring } = traitsOf(setting)
    const env = { ...TERMINAL_ENV, ...(expiring ? EXPIRING : {}) }
    const proxied = database === "postgresql"
    const first = await Rewake.start({
      database,
      armed: true,
      env,
      proxied,
      ...(wanted === 2 ? { durations: SHORT_LEASE } : {}),
    })
    const servers = [first]
    if (setting === "two servers") servers.push(await first.secondServer())
    if (setting === "separate places") servers.push(await first.serverElsewhere())
    const db = await openDatabase(
      first.database.url ? { kind: "postgresql", url: first.database.url } : { kind: "sqlite", file: join(first.dataDir, "rewake.db") },
    )
    return new Place(setting, servers, db)
  }

  get dataDir(): string {
    return this.server(0).dataDir
  }

  server(via: number): Rewake {
    return this.servers[via % this.servers.length] as Rewake
  }

  /** By the process itself: that it has ended is told to us only later. */
  isUp(via: number): boolean {
    const { child } = this.server(via)
    return child?.pid !== undefined && child.exitCode === null && processStartTime(child.pid) !== null
  }

  /** Starts what is not running, once for all who want it. Dying while starting is legitimate only by a kill. */
  up(via: number, say: (line: string) => void): Promise<void> {
    const server = this.server(via)
    const starting = this.starting.get(server) ?? this.startAgain(via, say).finally(() => this.starting.delete(server))
    this.starting.set(server, starting)
    return starting
  }
  private async startAgain(via: number, say: (line: string) => void): Promise<void> {
    // A start without a database says so and ends, which is another thing than what is looked for here.
    if (!this.isUp(via)) this.reopenDatabase()
    for (let starts = 1; !this.isUp(via); starts++) {
      try {
        await this.server(via).boot()
        say(`server ${via % this.servers.length} is up again`)
      } catch (error) {
        if (this.server(via).child?.exitCode !== null || this.isUp(via) || starts >= MOST_STARTS) throw error
        say("the server died while starting")
      }
    }
  }

  /** What a server ended with that nobody killed; null when all is as it should be. */
  unexpectedEnd(): string | null {
    const ended = this.servers.find(({ child }) => child && child.exitCode !== null)
    return ended ? `a server ended by itself with code ${ended.child?.exitCode}:\n${ended.output.slice(-4000)}` : null
  }

  /** Null when no answer came: whether it was done is then unknown. */
  async call<T>(via: number, method: string, path: string, body?: unknown): Promise<Answer<T> | null> {
    const server = this.server(via)
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Hung(`${method} ${path} was not answered within ${CALL_LIMIT_MS / 1000} s`)), CALL_LIMIT_MS)
    })
    try {
      return await Promise.race([server.api<T>(method, path, body), late])
    } catch (error) {
      if (error instanceof Hung) throw error
      return null
    } finally {
      clearTimeout(timer)
    }
  }

  arm(point: Omit<Armed, "id" | "signal">): void {
    rmSync(join(this.dataDir, FIRED_FILE), { force: true })
    writeFileSync(join(this.dataDir, ARMED_FILE), JSON.stringify({ id: ++this.armings, signal: "SIGKILL", ...point } satisfies Armed))
  }
  disarm(): void {
    rmSync(join(this.dataDir, ARMED_FILE), { force: true })
  }
  /** What died at its point since the last look; settles when it is really gone. */
  async takeFired(): Promise<Fired | null> {
    const file = join(this.dataDir, FIRED_FILE)
    if (!existsSync(file)) return null
    const fired = JSON.parse(readFileSync(file, "utf8")) as Fired
    rmSync(file, { force: true })
    await waitUntil(() => fired.victims.every((pid) => processStartTime(pid) === null), `the death at ${fired.point}`)
    return fired
  }
  /** One that was frozen between taking up its arms and dying of them dies once it goes on, and would be called alive until then. */
  async untilNothingFires(): Promise<void> {
    const dying = () =>
      readdirSync(this.dataDir).some((name) => {
        const pid = /^kill-point-(\d+)\.json$/.exec(name)?.[1]
        return pid !== undefined && processStartTime(Number(pid)) !== null
      })
    await waitUntil(() => !dying(), "a process at its kill point to die")
  }
  hasFired(): boolean {
    return existsSync(join(this.dataDir, FIRED_FILE))
  }

  /** One for each place. */
  get folders(): string[] {
    return [...new Set(this.servers.map(({ dataDir }) => dataDir))]
  }
  /** Whose daemon keeps the session; the first, where none has heard of it yet. */
  folderOf(sessionId: string): string {
    return this.folders.find((folder) => existsSync(join(folder, "sessions", `${sessionId}.messages.jsonl`))) ?? this.dataDir
  }

  daemonPids = (): number[] => this.servers.flatMap((_, via) => this.daemonPid(via) ?? [])
  /** The published daemon, if it is that one and it lives. */
  daemonPid(via = 0): number | null {
    try {
      const { pid, start_time } = this.server(via).daemon()
      return isSameProcess(pid, start_time) ? pid : null
    } catch {
      return null
    }
  }

  freezeDaemon(ms: number): boolean {
    this.thaw()
    const pid = this.daemonPid()
    if (pid === null || !signal(pid, "SIGSTOP")) return false
    this.frozen = { pid, timer: setTimeout(() => this.thaw(), ms) }
    return true
  }
  thaw(): void {
    if (!this.frozen) return
    clearTimeout(this.frozen.timer)
    signal(this.frozen.pid, "SIGCONT")
    this.frozen = null
  }

  closeDatabase(ms: number): boolean {
    const { proxy } = this.server(0)
    if (!proxy) return false
    this.reopenDatabase()
    proxy.cut()
    this.outage = setTimeout(() => this.reopenDatabase(), ms)
    return true
  }
  reopenDatabase(): void {
    if (this.outage) clearTimeout(this.outage)
    this.outage = null
    this.server(0).proxy?.pass()
  }

  daemonSession = (id: string) => this.askDaemon<DaemonSession>(`/sessions/${id}`)
  daemonTerminals = async (id: string) => (await this.askDaemon<{ ptys: PtyState[] }>(`/sessions/${id}/ptys`))?.ptys ?? []
  private async askDaemon<T>(path: string): Promise<T | null> {
    for (const server of this.servers) {
      const answer = await this.askDaemonOf<T>(server, path)
      if (answer) return answer
    }
    return null
  }
  private async askDaemonOf<T>(server: Rewake, path: string): Promise<T | null> {
    try {
      const { endpoint, secret } = server.daemon()
      const response = await fetch(`${endpoint}${path}`, {
        headers: { authorization: `Bearer ${secret}` },
        signal: AbortSignal.timeout(5_000),
      })
      return response.ok ? ((await response.json()) as T) : null
    } catch {
      return null
    }
  }

  /** Everything agentctl of this folder started, and agentctl itself, by what their environment says. */
  processes(): OurProcess[] {
    const marks = this.folders.map((folder) => `REWAKE_DATA_DIR=${folder}`)
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .flatMap((name) => {
        try {
          const environment = readFileSync(`/proc/${name}/environ`, "latin1").split("\0")
          if (!marks.some((mark) => environment.includes(mark))) return []
          const stat = readFileSync(`/proc/${name}/stat`, "utf8")
          const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
          if (state === "Z" || state === "X") return []
          const marked = (variable: string) =>
            environment.find((entry) => entry.startsWith(`${variable}=`))?.slice(variable.length + 1) ?? null
          const [session_id, worker_id] = [marked("REWAKE_SESSION_ID"), marked("REWAKE_WORKER_ID")]
          const command = readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " ").trim()
          return [{ pid: Number(name), parent: Number(parent), session_id, worker_id, command }]
        } catch {
          return []
        }
      })
  }

  /** The log of the daemon's mistakes that only its outermost net caught. */
  daemonMistakes(): string[] {
    const logs = this.folders.map((folder) => join(folder, "logs", "agentctl.log")).filter((file) => existsSync(file))
    return logs
      .flatMap((file) => readFileSync(file, "utf8").split("\n"))
      .filter((line) => /"event":"(daemon\.uncaught|daemon\.unhandled)"/.test(line))
  }

  async close(options: { keep: boolean }): Promise<void> {
    this.thaw()
    this.disarm()
    this.reopenDatabase()
    await this.db.$disconnect()
    if (options.keep)
      for (const [nth, server] of this.servers.entries()) writeFileSync(join(this.dataDir, `server-${nth}.log`), server.output)
    for (const server of this.servers.slice(1)) await (server.dataDir === this.dataDir ? server.kill9() : server.stop(options))
    await this.server(0).stop(options)
  }
}

class Hung extends Error {}

export function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    process.kill(pid, name)
    return true
  } catch {
    return false
  }
}

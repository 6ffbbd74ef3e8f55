import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { createHash, randomBytes } from "node:crypto"
import { once } from "node:events"
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { io, type Socket } from "socket.io-client"
import type { ErrorBody } from "../../lib/contracts/errors"
import { isTerminalKind, type SessionEvent } from "../../lib/contracts/events"
import { PUSH_NAMES, type PushedEvent } from "../../lib/contracts/socket"
import type { AppendResult, SessionView, TaskView } from "../../lib/contracts/task"
import type { Durations } from "../../lib/host/durations"
import { processStartTime } from "../../lib/host/process-identity"
import { freePort } from "./free-port"
import { createPostgresDatabase } from "./postgres"
import { countRows, runSql, type SqlPlace } from "./sql"
import { TcpProxy } from "./tcp-proxy"
import { ADMIN, readTemplate } from "./template"
import { waitUntil } from "./wait-until"

export { ADMIN }
export const DATABASES = ["sqlite", "postgresql"] as const
export type DatabaseKind = (typeof DATABASES)[number]
type Json = Record<string, unknown>
export type Answer<T = Json> = { status: number; body: T; headers: Headers }
export type Api = <T = Json>(method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer<T>>

/** The product as it is built, and the same with the modules of tests/replacements/ in place of those of lib/host/. */
const DIST = "dist"
const TEST_DIST = "dist-test"
const SQLITE_FILE = "rewake.db"
const PATIENCE_MS = 60_000

export type StartOptions = {
  database?: DatabaseKind
  env?: Record<string, string>
  /** Shorter times than the product's, for a test that has to wait for them. */
  durations?: Partial<Durations>
  /** Kill points that kill: see tests/support/kill-points.ts. */
  armed?: boolean
  /** The umask that the server is started with, in octal. */
  umask?: string
  /** Its servers reach PostgreSQL through `proxy`, which can be cut. */
  proxied?: boolean
  /** Without the admin, the token and the schema that test servers otherwise start with. */
  empty?: boolean
}

/** A data folder and database with the real server program over it, started and killed at will. */
export class Rewake {
  child: ChildProcess | null = null
  url = ""
  output = ""
  token = ""
  /** After how long something that was waited for counts as hanging. */
  patienceMs = PATIENCE_MS
  proxy: TcpProxy | null = null
  private sockets: Socket[] = []

  private constructor(
    readonly dataDir: string,
    readonly database: { kind: DatabaseKind; url: string | null; drop: () => Promise<void> },
    readonly env: Record<string, string>,
    private readonly dist: string,
    private readonly umask: string | null,
  ) {}

  static async start(options: StartOptions = {}): Promise<Rewake> {
    const kind = options.database ?? "sqlite"
    const template = options.empty ? null : readTemplate()
    const postgres = kind === "postgresql" ? await createPostgresDatabase("test", template?.postgresql?.name ?? null) : null
    const dataDir = mkdtempSync(join(tmpdir(), "rewake-"))
    if (kind === "sqlite" && template) copyFileSync(template.file, join(dataDir, SQLITE_FILE))
    const through = options.proxied && postgres ? await TcpProxy.inFrontOf(postgres.url) : null
    const durations = options.durations ? { REWAKE_TEST_DURATIONS: JSON.stringify(options.durations) } : {}
    const rewake = new Rewake(
      dataDir,
      { kind, url: postgres?.url ?? null, drop: postgres?.drop ?? (async () => {}) },
      // The same port for all its starts: a browser expects the same address after a restart.
      { PORT: String(await freePort()), ...durations, ...(through ? { DATABASE_URL: through.url } : {}), ...options.env },
      options.armed || options.durations ? TEST_DIST : DIST,
      options.umask ?? null,
    )
    rewake.proxy = through?.proxy ?? null
    rewake.token = (kind === "sqlite" ? template?.token : template?.postgresql?.token) ?? ""
    await rewake.boot()
    return rewake
  }

  /** The environment of every program of this instance. */
  environment(): NodeJS.ProcessEnv {
    return {
      ...process.env,
      NODE_ENV: "production",
      HOST: "127.0.0.1",
      PORT: "0",
      DATA_DIR: this.dataDir,
      WORKSPACE_ROOTS: this.dataDir,
      AUTH_SECRET: "a-secret-for-tests-that-is-long-enough",
      ADMIN_EMAIL: ADMIN.email,
      ADMIN_PASSWORD: ADMIN.password,
      LOG_LEVEL: "info",
      ...(this.database.url ? { DATABASE_URL: this.database.url } : { DATABASE_URL: "" }),
      ...this.env,
    }
  }

  async boot(): Promise<void> {
    const server = [process.execPath, `${this.dist}/server.mjs`] as const
    const [program, ...args] = this.umask === null ? server : (["sh", "-c", `umask ${this.umask}; exec "$@"`, "sh", ...server] as const)
    const child = spawn(program, args, { env: this.environment(), stdio: ["ignore", "pipe", "pipe"] })
    this.child = child
    let said = ""
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on("data", (chunk: Buffer) => {
        said += chunk.toString("utf8")
        this.output += chunk.toString("utf8")
      })
    }
    const requireAlive = () => {
      const ended = child.exitCode ?? child.signalCode
      if (ended !== null) throw new Error(`the server ended with ${ended}:\n${this.output}`)
    }
    this.url = await waitUntil(() => {
      requireAlive()
      return /Rewake is ready[^\n]*\n\s*(http:\S+)/.exec(said)?.[1]
    }, "server start")
    await waitUntil(async () => {
      requireAlive()
      // One that is killed now refuses before it is seen to have ended.
      return (await fetch(`${this.url}/api/ready`).catch(() => null))?.ok
    }, "server ready")
  }

  /** A further server over the same database and data folder. */
  async secondServer(extra: Record<string, string> = {}): Promise<Rewake> {
    const env = { ...this.env, PORT: String(await freePort()), ...extra }
    const second = new Rewake(this.dataDir, { ...this.database, drop: async () => {} }, env, this.dist, this.umask)
    await second.boot()
    second.token = this.token
    return second
  }

  /** A further server over the same database, with a data folder and a daemon of its own. */
  async serverElsewhere(): Promise<Rewake> {
    const dataDir = mkdtempSync(join(tmpdir(), "rewake-"))
    const env = { ...this.env, PORT: String(await freePort()) }
    const other = new Rewake(dataDir, { ...this.database, drop: async () => {} }, env, this.dist, this.umask)
    await other.boot()
    other.token = this.token
    return other
  }

  /** kill -9, as a crash would; returns when the process is really gone. */
  async kill9(): Promise<void> {
    const child = this.child
    this.child = null
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, "exit")
    child.kill("SIGKILL")
    await exited
  }

  async restart(): Promise<void> {
    await this.kill9()
    await this.boot()
  }

  daemon(): { pid: number; start_time: string; endpoint: string; secret: string } {
    return JSON.parse(readFileSync(join(this.dataDir, "run", "agentctl.json"), "utf8"))
  }

  killDaemon(): void {
    process.kill(this.daemon().pid, "SIGKILL")
  }

  cli(...args: string[]): string {
    return execFileSync(process.execPath, [`${this.dist}/cli.mjs`, ...args], { env: this.environment(), encoding: "utf8" }).trim()
  }
  /** A token for an existing user, written into the database: the command line for it has a test of its own. */
  async issueToken(email: string): Promise<string> {
    const token = `rwk_${randomBytes(32).toString("base64url")}`
    const sha256 = createHash("sha256").update(token).digest("hex")
    const issued = await runSql(
      this.sqlPlace(),
      "INSERT INTO api_tokens (id, user_id, name, token_sha256, scopes, created_at, expires_at) SELECT ?, id, 'tests', ?, 'read write admin', ?, ? FROM users WHERE email = ?",
      [`tok_${randomBytes(8).toString("hex")}`, sha256, new Date().toISOString(), new Date(Date.now() + 86_400_000).toISOString(), email],
    )
    if (issued !== 1) throw new Error(`there is no user ${email}`)
    return token
  }
  sqlPlace(): SqlPlace {
    return { url: this.database.url, file: join(this.dataDir, SQLITE_FILE) }
  }

  api: Api = (method, path, body, headers = {}) => this.as(this.token)(method, path, body, headers)
  as(token: string): Api {
    return async <T>(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
      const response = await fetch(`${this.url}${path}`, {
        method,
        headers: {
          ...(token ? { authorization: `Bearer ${token}` } : {}),
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
      })
      const text = await response.text()
      return { status: response.status, body: (text === "" ? {} : JSON.parse(text)) as T, headers: response.headers }
    }
  }

  async createTask(message: string, extra: Json = {}): Promise<{ task: TaskView; session: SessionView }> {
    const answer = await this.api<{ task: TaskView; session: SessionView }>("POST", "/api/v1/tasks", { message, ...extra })
    if (answer.status !== 201) throw new Error(`POST /tasks: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  async append(taskId: number, message: string, extra: Json = {}): Promise<AppendResult> {
    const answer = await this.api<AppendResult>("POST", `/api/v1/tasks/${taskId}/append`, { message, ...extra })
    if (answer.status !== 202) throw new Error(`append: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  async session(id: string): Promise<SessionView> {
    return (await this.api<SessionView>("GET", `/api/v1/sessions/${id}`)).body
  }
  async events(sessionId: string, after = 0): Promise<SessionEvent[]> {
    const all: SessionEvent[] = []
    for (;;) {
      const { body } = await this.api<{ events: SessionEvent[]; head_seq: number }>(
        "GET",
        `/api/v1/sessions/${sessionId}/events?after=${all.at(-1)?.seq ?? after}&limit=2000`,
      )
      all.push(...body.events)
      if (body.events.length === 0 || (all.at(-1)?.seq ?? 0) >= body.head_seq) return all
    }
  }
  /** Settles with the log once an event satisfies the condition. */
  waitForEvent(sessionId: string, matches: (event: SessionEvent) => boolean, what: string): Promise<SessionEvent[]> {
    return this.waitForLog(sessionId, (log) => log.some(matches), what)
  }
  waitForRuns(sessionId: string, ended: number): Promise<SessionEvent[]> {
    const ends = (log: readonly SessionEvent[]) => log.filter((event) => isTerminalKind(event.kind)).length
    return this.waitForLog(sessionId, (log) => ends(log) >= ended, `${ended} ended runs of ${sessionId}`)
  }
  /** Each look asks only for what is new: the whole log each time would keep the server busier than what it is waited for does. */
  private waitForLog(sessionId: string, isThere: (log: readonly SessionEvent[]) => boolean, what: string): Promise<SessionEvent[]> {
    const log: SessionEvent[] = []
    return waitUntil(
      async () => {
        log.push(...(await this.events(sessionId, log.at(-1)?.seq)))
        return isThere(log) ? log : null
      },
      what,
      this.patienceMs,
    )
  }

  socket(token = this.token): Socket {
    const socket = io(this.url, {
      auth: { token },
      transports: ["websocket"],
      reconnectionDelay: 50,
      reconnectionDelayMax: 200,
      forceNew: true,
    })
    socket.on("connect_error", (error: Error & { data?: ErrorBody }) => {
      if (!socket.active && error.data !== undefined && MAY_PASS.has(error.data.code)) this.connectAgain(socket)
    })
    this.sockets.push(socket)
    return socket
  }
  /** What the server itself refuses or closes is left so by socket.io; a page tries again. */
  connectAgain(socket: Socket): void {
    setTimeout(() => this.sockets.includes(socket) && socket.connect(), RETRY_MS)
  }

  /** Makes it ready for another test: a running server without tasks, sockets, agents' notes or armed kill points. */
  async empty(): Promise<void> {
    this.disconnectSockets()
    for (const name of readdirSync(this.dataDir)) if (name.startsWith("kill-point")) rmSync(join(this.dataDir, name))
    if (this.child === null || this.child.exitCode !== null || this.child.signalCode !== null) await this.boot()
    for (const hidden of [false, true]) {
      const { body } = await this.api<{ items: TaskView[] }>("GET", `/api/v1/tasks?limit=100&hidden=${hidden}`)
      for (const { id } of body.items) await this.api("DELETE", `/api/v1/tasks/${id}`)
    }
    await waitUntil(async () => (await countRows(this.sqlPlace(), "tasks")) === 0, "all tasks to be removed")
    rmSync(join(this.dataDir, "demo-agent"), { recursive: true, force: true })
    this.output = ""
    this.patienceMs = PATIENCE_MS
  }

  private disconnectSockets(): void {
    for (const socket of this.sockets) socket.disconnect()
    this.sockets = []
  }

  /** Politely, and everything: server, daemon, agents, folder, database. */
  async stop(options: { keep?: boolean } = {}): Promise<void> {
    this.disconnectSockets()
    await this.kill9()
    const file = join(this.dataDir, "run", "agentctl.json")
    if (existsSync(file)) {
      const { pid, start_time } = this.daemon()
      if (processStartTime(pid) === start_time) {
        process.kill(pid, "SIGTERM")
        await waitUntil(() => processStartTime(pid) !== start_time, "agentctl to end")
      }
    }
    if (options.keep) return
    this.proxy?.stop()
    await this.database.drop()
    rmSync(this.dataDir, { recursive: true, force: true })
  }
}

const MAY_PASS: ReadonlySet<string> = new Set(["DATABASE_UNAVAILABLE", "STORAGE_FULL"])
const RETRY_MS = 200

/** A client that subscribes like a browser: from its last seq, again after every reconnection. */
export function follow(rewake: Rewake, sessionId: string) {
  const seen: PushedEvent[] = []
  const socket = rewake.socket()
  const subscribe = () =>
    socket.emit("session.subscribe", { session_id: sessionId, after_seq: seen.at(-1)?.seq ?? 0 }, (answer: { error?: ErrorBody }) => {
      if (answer.error && MAY_PASS.has(answer.error.code)) setTimeout(() => socket.connected && subscribe(), RETRY_MS)
    })
  socket.on("connect", subscribe)
  // As when the server cannot read what the subscription is to be sent.
  socket.on("disconnect", (reason) => {
    if (reason === "io server disconnect") rewake.connectAgain(socket)
  })
  for (const name of PUSH_NAMES) socket.on(name, (event: PushedEvent) => event.session_id === sessionId && seen.push(event))
  return {
    seen,
    socket,
    until: (matches: (event: PushedEvent) => boolean, what: string) => waitUntil(() => seen.find(matches), what),
  }
}

/** The agent's text as a reader sees it: deltas, replaced by the complete message where there is one. */
export function agentText(events: readonly SessionEvent[]): string {
  const texts = new Map<string, string>()
  for (const event of events) {
    if (event.kind === "message.delta" && event.role === "agent")
      texts.set(event.message_id, (texts.get(event.message_id) ?? "") + event.content)
    if (event.kind === "message.agent") texts.set(event.message_id, event.content)
  }
  return [...texts.values()].join("\n")
}
export const numbers = (n: number) => Array.from({ length: n }, (_, i) => i + 1).join(" ")

import { type ChildProcess, spawn } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import http from "node:http"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import {
  AgentctlFile,
  type DaemonSession,
  EPOCH_HEADER,
  type PutAgentAnswer,
  type SpoolRecord,
} from "../../lib/contracts/agentctl/protocol"
import type { Durations } from "../../lib/host/durations"
import { waitUntil } from "./wait-until"

/** agentctl and the demo agents as they are shipped. */
export const PROGRAMS = resolve("dist/programs")
/** The same with the modules of tests/replacements/. */
const TEST_PROGRAMS = resolve("dist-test/programs")

export const newDataDir = (): string => mkdtempSync(join(tmpdir(), "rewake-data-"))

export interface Answer<T = Record<string, unknown>> {
  status: number
  body: T
}
interface CallOptions {
  body?: unknown
  epoch?: number | null
  secret?: string
  raw?: string
}

export interface AgentOptions {
  start?: unknown
  variant?: string
  command?: string
  args?: string[]
  env?: Record<string, string>
  session_files?: unknown
}

/** The agent that misbehaves as asked. */
export const oddAgent = (mode: string): AgentOptions => ({ args: [join(import.meta.dirname, "odd-agent.mjs"), mode] })

export class Daemon {
  private constructor(
    readonly child: ChildProcess,
    readonly dataDir: string,
    readonly file: AgentctlFile,
  ) {}

  /** `durations`: shorter times than the product's, for a test that has to wait for them. */
  static async start(dataDir: string, extra: string[] = [], durations?: Partial<Durations>): Promise<Daemon> {
    const published = join(dataDir, "run/agentctl.json")
    rmSync(published, { force: true })
    const child = spawnDaemon(dataDir, extra, durations)
    const ended = new Promise<never>((_, reject) => child.once("exit", (code) => reject(new Error(`agentctl ended with code ${code}`))))
    ended.catch(() => undefined)
    const daemon = await Promise.race([
      ended,
      waitUntil(() => (existsSync(published) ? readFileSync(published, "utf8") : null), "the published file"),
    ])
    return new Daemon(child, dataDir, AgentctlFile.parse(JSON.parse(daemon)))
  }

  call<T = Record<string, unknown>>(method: string, path: string, options: CallOptions = {}): Promise<Answer<T>> {
    const text = options.raw ?? (options.body === undefined ? undefined : JSON.stringify(options.body))
    const epoch = options.epoch === undefined ? 1 : options.epoch
    return new Promise((resolve, reject) => {
      const headers = {
        authorization: `Bearer ${options.secret ?? this.file.secret}`,
        ...(epoch === null ? {} : { [EPOCH_HEADER]: String(epoch) }),
      }
      const request = http.request(`${this.file.endpoint}${path}`, { method, headers, agent: false }, (response) => {
        let answer = ""
        response.on("data", (bytes) => {
          answer += bytes
        })
        response.on("end", () => resolve({ status: response.statusCode ?? 0, body: JSON.parse(answer) as T }))
      })
      request.on("error", reject)
      request.end(text)
    })
  }

  async putSession(
    id: string,
    workspace: unknown = { kind: "folder", path: join(this.dataDir, "workspaces", id) },
  ): Promise<DaemonSession> {
    const { status, body } = await this.call<DaemonSession>("PUT", `/sessions/${id}`, { body: { generation: 1, workspace } })
    if (status !== 200) throw new Error(`PUT session: ${JSON.stringify(body)}`)
    return body
  }

  async describe(id: string): Promise<DaemonSession> {
    return (await this.call<DaemonSession>("GET", `/sessions/${id}`)).body
  }

  putAgent(id: string, execution: string, options: AgentOptions = {}) {
    return this.call<PutAgentAnswer & { code?: string; message?: string }>("PUT", `/sessions/${id}/agent`, {
      body: {
        agent_execution_id: execution,
        command: options.command ?? process.execPath,
        args: options.args ?? [join(PROGRAMS, "demo-agent.mjs"), "--variant", options.variant ?? "demo"],
        env: options.env ?? {},
        start: options.start ?? { kind: "new" },
        ...(options.session_files === undefined ? {} : { session_files: options.session_files }),
      },
    })
  }

  async prompt(id: string, promptId: string, content: string, overrides: Record<string, unknown> = {}): Promise<Answer> {
    const spool_id = (await this.describe(id)).spool_id
    const body = {
      spool_id,
      run_id: `run_${promptId}`,
      content,
      body_sha256: createHash("sha256").update(content).digest("hex"),
      ...overrides,
    }
    return this.call("PUT", `/sessions/${id}/prompts/${promptId}`, { body })
  }

  /** A session with a ready demo agent in it. */
  async ready(id: string, options: AgentOptions = {}): Promise<{ spool_id: string; agent: PutAgentAnswer }> {
    const { spool_id } = await this.putSession(id)
    const { status, body } = await this.putAgent(id, `exec_${id}`, options)
    if (status !== 200) throw new Error(`PUT agent: ${JSON.stringify(body)}`)
    return { spool_id, agent: body }
  }

  events(id: string, after = 0, query = ""): EventStream {
    return new EventStream(this, id, after, query)
  }

  /** What the daemon caught only at its outermost net: each is a defect, although it went on. */
  mistakes(): string[] {
    const log = readFileSync(join(this.dataDir, "logs/agentctl.log"), "utf8")
    return log.split("\n").filter((line) => /"event":"(daemon\.uncaught|daemon\.unhandled|http\.failed)"/.test(line))
  }

  async kill(): Promise<void> {
    const gone = new Promise((resolve) => this.child.once("exit", resolve))
    if (this.child.exitCode !== null || this.child.signalCode !== null) return
    this.child.kill("SIGKILL")
    await gone
  }

  async stop(): Promise<number | null> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return this.child.exitCode
    const gone = new Promise<number | null>((resolve) => this.child.once("exit", resolve))
    this.child.kill("SIGTERM")
    return gone
  }
}

export function spawnDaemon(dataDir: string, extra: string[] = [], durations?: Partial<Durations>): ChildProcess {
  const programs = durations ? TEST_PROGRAMS : PROGRAMS
  const shortened = durations ? { REWAKE_TEST_DURATIONS: JSON.stringify(durations) } : {}
  return spawn(
    process.execPath,
    [
      join(programs, "agentctl.mjs"),
      ...["--data-dir", dataDir, "--build", "test", "--native-binding", join(programs, "better_sqlite3.node"), "--orphan-hours", "1"],
      ...extra,
    ],
    { stdio: ["ignore", "ignore", "pipe"], env: { ...process.env, REWAKE_DATA_DIR: dataDir, ...shortened } },
  )
}

/** One reader of a session's spool; it keeps all it was given. */
export class EventStream {
  header: { spool_id: string; head: number; first: number } | null = null
  readonly records: SpoolRecord[] = []
  refused: Answer | null = null
  ended = false
  response: http.IncomingMessage | null = null
  private readonly request: http.ClientRequest
  private waiting: (() => void)[] = []

  constructor(daemon: Daemon, id: string, after: number, query = "") {
    let rest = ""
    const headers = { authorization: `Bearer ${daemon.file.secret}` }
    this.request = http.get(
      `${daemon.file.endpoint}/sessions/${id}/events?after=${after}${query}`,
      { headers, agent: false },
      (response) => {
        this.response = response
        response.setEncoding("utf8")
        response.on("data", (text: string) => {
          const lines = (rest + text).split("\n")
          rest = lines.pop() ?? ""
          for (const line of lines.filter((l) => l !== "")) this.take(response.statusCode ?? 0, line)
          this.tell()
        })
        response.on("error", () => undefined)
        response.on("close", () => {
          if (response.statusCode !== 200 && rest) this.refused = { status: response.statusCode ?? 0, body: JSON.parse(rest) }
          this.ended = true
          this.tell()
        })
      },
    )
    this.request.on("error", () => {
      this.ended = true
      this.tell()
    })
  }

  kinds(): string[] {
    return this.records.map((r) => r.kind)
  }

  text(role: "agent" | "thought" = "agent"): string {
    return this.records.map((r) => (r.kind === "message.delta" && r.role === role ? r.content : "")).join("")
  }

  find<K extends SpoolRecord["kind"]>(kind: K): Extract<SpoolRecord, { kind: K }> | undefined {
    return this.records.find((r) => r.kind === kind) as Extract<SpoolRecord, { kind: K }> | undefined
  }

  /** The first record of that kind, past or future. */
  async until<K extends SpoolRecord["kind"]>(kind: K, which: (record: Extract<SpoolRecord, { kind: K }>) => boolean = () => true) {
    type Wanted = Extract<SpoolRecord, { kind: K }>
    return this.when(() => this.records.find((r): r is Wanted => r.kind === kind && which(r as Wanted)) ?? null)
  }

  async when<T>(condition: () => T | null | false): Promise<T> {
    for (;;) {
      const found = condition()
      if (found !== null && found !== false) return found
      if (this.ended) throw new Error(`the stream ended; it had ${this.kinds().join(", ")} ${JSON.stringify(this.refused)}`)
      await new Promise<void>((resolve) => this.waiting.push(resolve))
    }
  }

  end(): Promise<void> {
    return new Promise((resolve) => {
      if (this.ended) return resolve()
      this.waiting.push(resolve)
      this.request.destroy()
    })
  }

  private take(status: number, line: string): void {
    const value = JSON.parse(line)
    if (status !== 200) this.refused = { status, body: value }
    else if (this.header === null) this.header = value
    else this.records.push(value as SpoolRecord)
  }

  private tell(): void {
    const waiting = this.waiting
    this.waiting = []
    for (const resolve of waiting) resolve()
  }
}

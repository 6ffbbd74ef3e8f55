import { type ChildProcessByStdio, spawn } from "node:child_process"
import type { Readable, Writable } from "node:stream"
import { withUmaskOfUsers } from "../../../lib/host/umask"
import { Failure } from "../failure"
import { gitEnvironment } from "../git"
import { agentMarks, endProcesses, findMarked, recordProcess, signalGroup, TERM_GRACE_MS } from "../process-tree"
import { withoutTerminals } from "../pty/masters"
import type { RecordedProcess } from "../session-facts"
import { lastCharacters } from "./terminals"

/** Most agents end by themselves when their input closes. */
const CLOSE_GRACE_MS = 1000
/** Output still in the pipe is read after the exit; a stray child that keeps the pipe open is not waited for longer. */
const DRAIN_GRACE_MS = 2000
const STDERR_TAIL_BYTES = 4096

export interface AgentExit {
  code: number | null
  signal: string | null
}

/** One agent process in its own process group, with the end of everything it started. */
export class AgentProcess {
  readonly pid: number
  readonly recorded: RecordedProcess[]
  /** Aborts as soon as the process is gone, before its last output has been read. */
  readonly gone = new AbortController()
  readonly exit: Promise<AgentExit>
  private stderr = Buffer.alloc(0)

  private constructor(
    private readonly child: ChildProcessByStdio<Writable, Readable, Readable>,
    private readonly dataDir: string,
    private readonly executionId: string,
    private readonly secrets: readonly string[],
  ) {
    this.pid = child.pid as number
    const recorded = recordProcess(this.pid)
    this.recorded = recorded ? [recorded] : []
    child.stdin.on("error", () => undefined)
    child.stderr.on("error", () => undefined)
    child.stderr.on("data", (bytes: Buffer) => this.keepStderr(bytes))
    this.exit = new Promise((resolve) => {
      child.once("exit", (code, signal) => {
        this.gone.abort()
        resolve({ code, signal })
      })
    })
  }

  static spawn(options: {
    executionId: string
    command: string
    args: string[]
    env: NodeJS.ProcessEnv
    cwd: string
    dataDir: string
    /** What must not be repeated when the agent's last words are told. */
    secrets: readonly string[]
  }): Promise<AgentProcess> {
    return new Promise((resolve, reject) => {
      const child = withUmaskOfUsers(() =>
        spawn(options.command, options.args, {
          cwd: options.cwd,
          env: options.env,
          detached: true,
          stdio: withoutTerminals(["pipe", "pipe", "pipe"]),
        }),
      )
      child.once("error", (error: NodeJS.ErrnoException) => {
        if (error.code === "ENOENT") reject(new Failure("AGENT_COMMAND_NOT_FOUND", `The command ${options.command} was not found.`))
        else reject(new Failure("AGENT_START_FAILED", `The agent could not be started: ${error.message}`))
      })
      child.once("spawn", () => {
        child.on("error", () => undefined)
        resolve(new AgentProcess(child, options.dataDir, options.executionId, options.secrets))
      })
    })
  }

  get stdin(): Writable {
    return this.child.stdin
  }
  get stdout(): Readable {
    return this.child.stdout
  }

  stderrTail(): string {
    const said = this.stderr.toString("utf8")
    const masked = this.secrets.reduce((text, secret) => text.replaceAll(secret, "•••"), said)
    return lastCharacters(Buffer.from(masked), STDERR_TAIL_BYTES)
  }

  keepStderr(bytes: Buffer): void {
    this.stderr = Buffer.concat([this.stderr, bytes]).subarray(-2 * STDERR_TAIL_BYTES)
  }

  /** Politely first; resolves when the process is gone. */
  async end(): Promise<void> {
    this.child.stdin.end()
    if (await this.goneWithin(CLOSE_GRACE_MS)) return
    signalGroup(this.pid, "SIGTERM")
    if (await this.goneWithin(TERM_GRACE_MS)) return
    signalGroup(this.pid, "SIGKILL")
    await this.exit
  }

  /** After the exit: ends what it left behind and waits until its last output was handled. */
  async afterExit(drained: Promise<void>): Promise<void> {
    signalGroup(this.pid, "SIGKILL")
    const strays = findMarked(this.dataDir).filter((p) => p.agent_execution_id === this.executionId)
    const timer = setTimeout(() => this.child.stdout.destroy(), DRAIN_GRACE_MS)
    await Promise.all([drained, endProcesses(strays)])
    clearTimeout(timer)
  }

  private goneWithin(ms: number): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), ms)
      void this.exit.then(() => {
        clearTimeout(timer)
        resolve(true)
      })
    })
  }
}

/** Shorter ones are settings, not keys; masking them would garble ordinary words. */
const SECRET_MIN_LENGTH = 8
export const secretsIn = (env: Record<string, string>): string[] => Object.values(env).filter((value) => value.length >= SECRET_MIN_LENGTH)

export function agentEnvironment(dataDir: string, marks: { sessionId: string; executionId: string }, given: Record<string, string>) {
  const inherited = gitEnvironment(dataDir, { ...process.env, ...given })
  return { ...inherited, REWAKE_DATA_DIR: dataDir, ...agentMarks(marks.sessionId, marks.executionId) }
}

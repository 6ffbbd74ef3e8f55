import { type ChildProcess, spawn } from "node:child_process"
import { randomUUID } from "node:crypto"
import { RequestError } from "@agentclientprotocol/sdk"
import { withUmaskOfUsers } from "../../../lib/host/umask"
import { signalGroup, TERM_GRACE_MS } from "../process-tree"
import { withoutTerminals } from "../pty/masters"
import type { TerminalSnapshot } from "./updates"

const DEFAULT_LIMIT = 1024 * 1024
const MAX_LIMIT = 8 * 1024 * 1024
/** In a record: enough to read, not so much that every refresh repeats a megabyte. */
const SNAPSHOT_BYTES = 64 * 1024
/** A child left in the background keeps the pipe open; its parent's exit is not held up for longer. */
const DRAIN_MS = 300
const MAX_RELEASED = 64

interface Exit {
  exitCode: number | null
  signal: string | null
}
interface Terminal {
  child: ChildProcess
  chunks: Buffer[]
  bytes: number
  limit: number
  truncated: boolean
  exit: Exit | null
  exited: Promise<Exit>
  released: boolean
}

export interface CreateTerminal {
  command: string
  args?: string[]
  env?: { name: string; value: string }[]
  cwd?: string | null
  outputByteLimit?: number | null
}

/** The commands an agent runs through its client: each in its own process group, all ended with the agent. */
export class Terminals {
  private readonly all = new Map<string, Terminal>()

  constructor(
    private readonly workspace: string,
    private readonly env: NodeJS.ProcessEnv,
    /** Told on output and on exit, so that a tool call can show it while it runs. */
    private readonly onOutput: (terminalId: string, ended: boolean) => void,
  ) {}

  create(request: CreateTerminal): { terminalId: string; pid: number | null } {
    const args = request.args ?? []
    const env = { ...this.env, ...Object.fromEntries((request.env ?? []).map((v) => [v.name, v.value])) }
    // Without arguments agents send a whole shell line as the command.
    const [command, rest] = args.length > 0 ? [request.command, args] : ["/bin/sh", ["-c", request.command]]
    const child = withUmaskOfUsers(() =>
      spawn(command, rest, {
        cwd: request.cwd ?? this.workspace,
        env,
        detached: true,
        stdio: withoutTerminals(["ignore", "pipe", "pipe"]),
      }),
    )
    const terminalId = `term_${randomUUID()}`
    let settle: (exit: Exit) => void = () => undefined
    const terminal: Terminal = {
      child,
      chunks: [],
      bytes: 0,
      limit: Math.min(Math.max(request.outputByteLimit ?? DEFAULT_LIMIT, 0), MAX_LIMIT),
      truncated: false,
      exit: null,
      exited: new Promise((resolve) => {
        settle = resolve
      }),
      released: false,
    }
    const end = (exitCode: number | null, signal: string | null) => {
      if (terminal.exit) return
      terminal.exit = { exitCode, signal }
      settle(terminal.exit)
      this.onOutput(terminalId, true)
    }
    const take = (bytes: Buffer) => {
      keep(terminal, bytes)
      this.onOutput(terminalId, false)
    }
    child.stdout?.on("data", take)
    child.stderr?.on("data", take)
    child.on("error", (error) => {
      take(Buffer.from(`${error.message}\n`))
      end(127, null)
    })
    child.on("close", end)
    child.on("exit", (code, signal) => setTimeout(() => end(code, signal), DRAIN_MS))
    this.all.set(terminalId, terminal)
    this.forgetOldest()
    return { terminalId, pid: child.pid ?? null }
  }

  output(id: string): { output: string; truncated: boolean; exitStatus: Exit | null } {
    const terminal = this.find(id)
    return { output: tail(terminal, terminal.limit), truncated: terminal.truncated, exitStatus: terminal.exit }
  }

  waitForExit(id: string): Promise<Exit> {
    return this.find(id).exited
  }

  kill(id: string): void {
    end(this.find(id))
  }

  release(id: string): void {
    const terminal = this.find(id)
    terminal.released = true
    end(terminal)
  }

  /** What a tool call that embeds it shows; also after its release, since people still read it. */
  snapshot(id: string): TerminalSnapshot | null {
    const terminal = this.all.get(id)
    return terminal ? { output: tail(terminal, SNAPSHOT_BYTES), exit_code: terminal.exit?.exitCode ?? null } : null
  }

  endAll(): void {
    for (const terminal of this.all.values()) end(terminal)
  }

  private find(id: string): Terminal {
    const terminal = this.all.get(id)
    if (!terminal || terminal.released) throw RequestError.resourceNotFound(id)
    return terminal
  }

  private forgetOldest(): void {
    const released = [...this.all].filter(([, t]) => t.released && t.exit)
    for (const [id] of released.slice(0, Math.max(released.length - MAX_RELEASED, 0))) this.all.delete(id)
  }
}

function end(terminal: Terminal): void {
  const { pid } = terminal.child
  if (terminal.exit || pid === undefined) return
  signalGroup(pid, "SIGTERM")
  setTimeout(() => {
    if (!terminal.exit) signalGroup(pid, "SIGKILL")
  }, TERM_GRACE_MS).unref()
}

function keep(terminal: Terminal, bytes: Buffer): void {
  terminal.chunks.push(bytes)
  terminal.bytes += bytes.length
  // Joined only when twice the limit has gathered, so that a talkative command does not copy the buffer for every line.
  if (terminal.bytes <= 2 * Math.max(terminal.limit, SNAPSHOT_BYTES)) {
    terminal.truncated ||= terminal.bytes > terminal.limit
    return
  }
  const kept = Buffer.concat(terminal.chunks).subarray(-Math.max(terminal.limit, SNAPSHOT_BYTES))
  terminal.chunks = [kept]
  terminal.bytes = kept.length
  terminal.truncated = true
}

const tail = (terminal: Terminal, limit: number): string => lastCharacters(Buffer.concat(terminal.chunks), limit)

/** The last `limit` bytes, beginning with a whole character. */
export function lastCharacters(bytes: Buffer, limit: number): string {
  if (limit <= 0) return ""
  if (bytes.length <= limit) return bytes.toString("utf8")
  let from = bytes.length - limit
  while (from < bytes.length && ((bytes[from] ?? 0) & 0xc0) === 0x80) from++
  return bytes.subarray(from).toString("utf8")
}

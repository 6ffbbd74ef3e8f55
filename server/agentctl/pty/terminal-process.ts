import { existsSync, writeSync } from "node:fs"
import { constants } from "node:os"
import { ReadStream } from "node:tty"
import { withUmaskOfUsers } from "../../../lib/host/umask"
import { ptyAddon, SPAWN_HELPER } from "./addon"
import { noteMaster } from "./masters"

/** After its process the terminal is read until it has been quiet this long; a job left behind may keep it open for ever. */
const DRAIN_QUIET_MS = 100
const DRAIN_LIMIT_MS = 2000
/** A program that does not read its input is tried again this often. */
const INPUT_RETRY_MS = 5
/** More waiting input than this is not taken: its sender is held back instead. */
const INPUT_QUEUE_BYTES = 256 * 1024

export interface Exit {
  exit_code: number | null
  signal: string | null
}

export interface TerminalProcessOptions {
  file: string
  args: string[]
  env: Record<string, string>
  cwd: string
  cols: number
  rows: number
  /** Bytes are valid until it returns: all terminals read into one buffer. */
  onData(bytes: Buffer): void
  /** Once, after the last output. */
  onEnd(exit: Exit): void
}

/** Reads happen one after the other and are copied at once, so that an idle terminal holds no buffer. */
const shared = Buffer.allocUnsafeSlow(64 * 1024)

/** The addon's own children are started past `withoutTerminals`: such a process closes what it inherited before it becomes what was asked for. */
const CLOSE_OTHERS = `for f in /proc/$$/fd/*; do n=\${f##*/}; if [ "$n" -gt 2 ]; then eval "exec $n>&-"; fi; done; exec "$@"`
const BASH = process.platform === "linux" ? ["/bin/bash", "/usr/bin/bash"].find((file) => existsSync(file)) : undefined
/** Which a shell without a prompt removes from what it hands on. */
const withPrompts = (env: Record<string, string>): string[] => {
  const prompts = ["PS1", "PS2"].filter((name) => env[name] !== undefined)
  return prompts.length > 0 ? ["/usr/bin/env", ...prompts.map((name) => `${name}=${env[name]}`)] : []
}

/** One process with a terminal of its own: bytes out, bytes in, its size, its end. */
export class TerminalProcess {
  readonly pid: number
  private readonly fd: number
  private readonly stream: ReadStream
  private queue: Buffer[] = []
  private queued = 0
  private retry: NodeJS.Timeout | null = null
  private roomFor: (() => void)[] = []
  private exit: Exit | null = null
  private lastRead = 0
  private ended = false

  constructor(private readonly options: TerminalProcessOptions) {
    const { file, args, env, cwd, cols, rows } = options
    const [program, argv] = BASH ? [BASH, ["-p", "-c", CLOSE_OTHERS, "rewake", ...withPrompts(env), file, ...args]] : [file, args]
    const pairs = Object.entries(env).map(([name, value]) => `${name}=${value}`)
    const exited = (code: number, signal: number) => this.processEnded(code, signal)
    const addon = ptyAddon()
    const { fd, pid } = withUmaskOfUsers(() => addon.fork(program, argv, pairs, cwd, cols, rows, -1, -1, true, SPAWN_HELPER, exited))
    this.fd = fd
    this.pid = pid
    const onread = { buffer: shared, callback: (bytes: number) => this.take(bytes) }
    // `onread` is an option of every socket; the declaration of ReadStream names fewer.
    this.stream = new ReadStream(fd, { onread } as object)
    // EIO is how a terminal says that nobody has it open any more.
    this.stream.on("error", () => undefined)
    const forget = noteMaster(fd)
    this.stream.on("close", () => {
      forget()
      this.finish()
    })
    this.stream.resume()
  }

  pause(): void {
    if (!this.exit) this.stream.pause()
  }

  resume(): void {
    if (!this.stream.destroyed) this.stream.resume()
  }

  resize(cols: number, rows: number): void {
    if (!this.stream.destroyed) ptyAddon().resize(this.fd, cols, rows)
  }

  /** Resolves when there is room for more. */
  async input(bytes: Buffer): Promise<void> {
    if (this.stream.destroyed) return
    this.queue.push(bytes)
    this.queued += bytes.length
    if (!this.retry) this.writeOn()
    while (this.queued > INPUT_QUEUE_BYTES && !this.ended) await new Promise<void>((resolve) => this.roomFor.push(resolve))
  }

  /** Hangs up on whoever still has the terminal open. */
  hangUp(): void {
    this.stream.destroy()
  }

  private take(bytes: number): boolean {
    this.lastRead = Date.now()
    this.options.onData(shared.subarray(0, bytes))
    return true
  }

  /** The terminal never blocks a write, and a synchronous one cannot hit a descriptor that was closed and given out again meanwhile. */
  private writeOn(): void {
    this.retry = null
    for (let bytes = this.queue[0]; bytes && !this.stream.destroyed; bytes = this.queue[0]) {
      const written = this.writeSome(bytes)
      this.queued -= written
      if (written < bytes.length) {
        this.queue[0] = bytes.subarray(written)
        this.retry = setTimeout(() => this.writeOn(), INPUT_RETRY_MS)
        break
      }
      this.queue.shift()
    }
    if (this.queued <= INPUT_QUEUE_BYTES) this.tellRoom()
  }

  private writeSome(bytes: Buffer): number {
    try {
      return writeSync(this.fd, bytes)
    } catch (error) {
      // Whatever else went wrong, the terminal is going: its end is told by the reader.
      return (error as NodeJS.ErrnoException).code === "EAGAIN" ? 0 : bytes.length
    }
  }

  private tellRoom(): void {
    const waiting = this.roomFor
    this.roomFor = []
    for (const resolve of waiting) resolve()
  }

  private processEnded(code: number, signal: number): void {
    this.exit = signal ? { exit_code: null, signal: signalName(signal) } : { exit_code: code, signal: null }
    if (this.ended) return this.options.onEnd(this.exit)
    this.stream.resume()
    const began = Date.now()
    const look = setInterval(() => {
      const now = Date.now()
      if (now - Math.max(this.lastRead, began) < DRAIN_QUIET_MS && now - began < DRAIN_LIMIT_MS) return
      clearInterval(look)
      this.stream.destroy()
    }, DRAIN_QUIET_MS / 4)
    this.stream.once("close", () => clearInterval(look))
  }

  private finish(): void {
    if (this.ended) return
    this.ended = true
    this.queue = []
    this.queued = 0
    this.tellRoom()
    // Hung up before the process has ended: its exit follows.
    if (this.exit) this.options.onEnd(this.exit)
  }
}

const signalName = (number: number): string =>
  Object.entries(constants.signals).find(([, value]) => value === number)?.[0] ?? `signal ${number}`

import type { Socket } from "socket.io-client"
import type {
  AttachWorker,
  WorkerAttached,
  WorkerDetail,
  WorkerExit,
  WorkerOutput,
  WorkerRedraw,
  WorkerView,
} from "../../lib/contracts/workers"
import type { Rewake } from "./server"
import { waitUntil } from "./wait-until"

/** Shells of the tests do not depend on whose machine they run on. */
export const TERMINAL_ENV = { SHELL: "/bin/sh" }

export async function openTerminal(rewake: Rewake, sessionId: string, input: object = { type: "terminal" }): Promise<WorkerView> {
  const answer = await rewake.api<{ worker: WorkerView }>("POST", `/api/v1/sessions/${sessionId}/workers`, input)
  if (answer.status !== 201) throw new Error(`POST workers: ${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body.worker
}
export const describeTerminal = async (rewake: Rewake, { session_id, id }: WorkerView) =>
  (await rewake.api<WorkerDetail>("GET", `/api/v1/sessions/${session_id}/workers/${id}`)).body

/** A session whose executor is ready, its agent at rest. */
export async function readySession(rewake: Rewake): Promise<string> {
  const { session } = await rewake.createTask("remember pear")
  await rewake.waitForRuns(session.id, 1)
  return session.id
}

/** Who looks at a terminal, as a browser does; what it is given must follow on from what it has. */
export class Viewer {
  readonly exits: WorkerExit[] = []
  readonly redraws: WorkerRedraw[] = []
  attached: WorkerAttached | null = null
  offset = 0
  private chunks: Buffer[] = []
  private broken: string | null = null

  constructor(
    readonly socket: Socket,
    readonly worker: Pick<WorkerView, "id" | "session_id">,
  ) {
    socket.on("worker.output", (output: WorkerOutput) => {
      if (output.worker_id !== worker.id) return
      if (output.offset !== this.offset) this.broken ??= `expected offset ${this.offset}, got ${output.offset}`
      this.chunks.push(Buffer.from(output.data))
      this.offset = output.offset + output.data.length
    })
    socket.on("worker.redraw", (redraw: WorkerRedraw) => {
      if (redraw.worker_id !== worker.id) return
      this.redraws.push(redraw)
      this.chunks.push(Buffer.from(redraw.snapshot))
      this.offset = redraw.offset
    })
    socket.on("worker.exit", (exit: WorkerExit) => exit.worker_id === worker.id && this.exits.push(exit))
  }

  private get which() {
    return { session_id: this.worker.session_id, worker_id: this.worker.id }
  }
  async ask(options: Partial<AttachWorker> = {}): Promise<WorkerAttached & { error?: { code: string; message: string } }> {
    const answer = await new Promise<WorkerAttached & { error?: { code: string; message: string } }>((resolve) =>
      this.socket.emit("worker.attach", { ...this.which, ...options }, (reply: never) => {
        const attached = reply as WorkerAttached & { error?: { code: string; message: string } }
        if (!attached.error) this.offset = attached.offset
        resolve(attached)
      }),
    )
    if (!answer.error) this.attached = answer
    return answer
  }
  /** Attaches, however long the executor takes. */
  attach(options: Partial<AttachWorker> = {}): Promise<WorkerAttached> {
    return waitUntil(async () => {
      const answer = await this.ask(options)
      if (answer.error && !["NOT_READY", "EXECUTOR_UNREACHABLE"].includes(answer.error.code)) throw new Error(JSON.stringify(answer.error))
      return answer.error ? null : answer
    }, "an attached terminal")
  }
  async type(data: string | Uint8Array): Promise<void> {
    const answer = (await this.socket.emitWithAck("worker.input", { ...this.which, data })) as { error?: unknown }
    if (answer.error) throw new Error(JSON.stringify(answer.error))
  }
  resize = (cols: number, rows: number) => this.socket.emitWithAck("worker.resize", { ...this.which, cols, rows })
  drawn = (offset: number) => this.socket.emit("worker.ack", { ...this.which, offset })
  detach = () => this.socket.emitWithAck("worker.detach", this.which)

  bytes(): Buffer {
    if (this.broken) throw new Error(this.broken)
    const all = Buffer.concat(this.chunks)
    this.chunks = [all]
    return all
  }
  forget(): void {
    this.chunks = []
  }
  text = () => this.bytes().toString("utf8")
  /** The match, once it is on the screen. */
  until(wanted: RegExp): Promise<RegExpExecArray> {
    return waitUntil(() => wanted.exec(this.text()), `${wanted} in ${JSON.stringify(this.text().slice(-500))}`)
  }
  /** Runs a line and gives what it printed between two marks. The marks are made by the shell: its echo of the line does not hold them. */
  async run(line: string): Promise<string> {
    const mark = `m${Math.random().toString(36).slice(2)}`
    await this.type(`printf '<%s>' ${mark}; ${line}; printf '</%s>' ${mark}\r`)
    const [, output] = await this.until(new RegExp(`<${mark}>([\\s\\S]*?)</${mark}>`))
    return (output ?? "").replace(/\r\n/g, "\n").trim()
  }
}

export async function view(rewake: Rewake, worker: WorkerView, options: Partial<AttachWorker> = {}): Promise<Viewer> {
  const viewer = new Viewer(rewake.socket(), worker)
  await viewer.attach(options)
  return viewer
}

import type { Socket } from "socket.io-client"
import type { WorkerAttached, WorkerExit, WorkerOutput } from "../../lib/contracts/workers"

/** After a refusal or a cut a page attaches again by itself. */
const ATTACH_AGAIN_MS = 250
const ANSWER_WITHIN_MS = 5_000

/** What one attachment gave, piece by piece. `asked`: null for the screen as it is. */
export type Attachment = {
  generation: number
  epoch: number
  asked: number | null
  offset: number
  pieces: { offset: number; epoch: number; data: Buffer }[]
}
type Refusal = { error: { code: string; message: string } }

/** A page that shows one terminal: it goes on from where it was, as lib/client/worker-stream.ts does, and keeps all it was given. */
export class TerminalViewer {
  readonly attachments: Attachment[] = []
  /** `ended`: the process did, and nobody has asked for another. `gone`: there is no such terminal. */
  state: "connecting" | "live" | "ended" | "gone" = "connecting"
  refusal = ""
  private attempt = 0
  private redraws: boolean
  private retry: NodeJS.Timeout | undefined

  constructor(
    readonly socket: Socket,
    private readonly which: { session_id: string; worker_id: string },
    from: "screen" | "beginning",
  ) {
    this.redraws = from === "screen"
    socket.on("connect", () => this.attach())
    socket.on("disconnect", () => this.connecting())
    socket.on("worker.output", (output: WorkerOutput) => output.worker_id === which.worker_id && this.take(output))
    socket.on("worker.exit", (exit: WorkerExit) => exit.worker_id === which.worker_id && this.leave(exit))
  }

  get current(): Attachment | null {
    return this.attachments.at(-1) ?? null
  }

  /** Where what was shown last ends. */
  get end(): number {
    const { current } = this
    const last = current?.pieces.at(-1)
    return last ? last.offset + last.data.length : (current?.offset ?? 0)
  }

  attach(): void {
    clearTimeout(this.retry)
    if (this.state === "gone" || !this.socket.connected) return
    const attempt = this.connecting()
    const asked = this.redraws ? null : this.end
    const request = { ...this.which, ...(asked === null ? { snapshot: true } : { offset: asked }) }
    this.socket.emit("worker.attach", request, (answer: WorkerAttached | Refusal) => {
      if (attempt !== this.attempt) return
      if ("error" in answer) return this.refused(answer)
      this.begin(answer, asked)
    })
  }

  /** Null: nobody knows whether it was typed. */
  async type(data: string): Promise<boolean | null> {
    const answer = await this.socket
      .timeout(ANSWER_WITHIN_MS)
      .emitWithAck("worker.input", { ...this.which, data })
      .catch(() => null)
    return answer === null ? null : !(answer as Partial<Refusal>).error
  }

  resize(cols: number, rows: number): void {
    this.socket.emit("worker.resize", { ...this.which, cols, rows })
  }

  close(): void {
    this.attempt++
    clearTimeout(this.retry)
    this.socket.disconnect()
  }

  private connecting(): number {
    if (this.state === "live" || this.state === "ended") this.state = "connecting"
    return ++this.attempt
  }

  private begin({ generation, epoch, offset }: WorkerAttached, asked: number | null): void {
    const { current } = this
    if (current && asked !== null && (generation !== current.generation || offset !== asked)) {
      this.redraws = true
      return this.attach()
    }
    this.redraws = false
    this.attachments.push({ generation, epoch, asked, offset, pieces: [] })
    this.state = "live"
  }

  private refused({ error }: Refusal): void {
    this.refusal = `${error.code} ${error.message}`
    if (error.code === "NOT_FOUND") this.state = "gone"
    else this.attachLater()
  }

  private take({ offset, epoch, data }: WorkerOutput): void {
    if (this.state === "live") this.current?.pieces.push({ offset, epoch, data: Buffer.from(data) })
  }

  private leave({ reason }: WorkerExit): void {
    if (this.state !== "live") return
    this.state = reason === "exited" ? "ended" : reason === "closed" || reason === "not_found" ? "gone" : "connecting"
    if (this.state === "connecting") this.attachLater()
  }

  private attachLater(): void {
    clearTimeout(this.retry)
    this.retry = setTimeout(() => this.attach(), ATTACH_AGAIN_MS)
  }
}

import http from "node:http"
import { EPOCH_HEADER } from "../../lib/contracts/agentctl/protocol"
import {
  PTY_EPOCH_HEADER,
  PTY_OFFSET_HEADER,
  PTY_SNAPSHOT_HEADER,
  type PtyState,
  type PutPtyAnswer,
  type StartPty,
} from "../../lib/contracts/agentctl/ptys"
import type { Answer, Daemon } from "./daemon"

/** A plain shell that says when it is ready, so that tests do not depend on whose machine they run on. */
export const plainShell = { file: "/bin/bash", args: ["--norc", "--noprofile"], env: { PS1: "ready> ", HISTFILE: "/dev/null" } }

type Options = Partial<StartPty>
export const putPty = (daemon: Daemon, id: string, workerId: string, options: Options = {}) =>
  daemon.call<PutPtyAnswer & { code?: string }>("PUT", `/sessions/${id}/ptys/${workerId}`, {
    body: { type: "terminal", command: plainShell, cols: 80, rows: 24, restart: false, label: "new shell", ...options },
  })

export async function ptyState(daemon: Daemon, id: string, workerId: string): Promise<PtyState> {
  const { body } = await daemon.call<{ ptys: PtyState[] }>("GET", `/sessions/${id}/ptys`)
  const found = body.ptys.find((pty) => pty.worker_id === workerId)
  if (!found) throw new Error(`no ${workerId} in ${JSON.stringify(body)}`)
  return found
}

/** Types into a terminal; bytes go as they are. */
export function type(daemon: Daemon, id: string, workerId: string, epoch: number, data: string | Buffer): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${daemon.file.secret}`, [EPOCH_HEADER]: "1" }
    const path = `/sessions/${id}/ptys/${workerId}/input?epoch=${epoch}`
    const request = http.request(`${daemon.file.endpoint}${path}`, { method: "POST", headers, agent }, (response) => {
      let text = ""
      response.on("data", (bytes) => {
        text += bytes
      })
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) }))
    })
    request.on("error", reject)
    request.end(data)
  })
}
const agent = new http.Agent({ keepAlive: true })

export async function history(daemon: Daemon, id: string, workerId: string, before: number, limit: number) {
  const stream = new PtyStream(daemon, id, workerId, `history?before=${before}&limit=${limit}`)
  await stream.ended
  return { offset: stream.offset, bytes: stream.bytes() }
}

/** One viewer of a terminal; it keeps what it was given, unless told otherwise. */
export class PtyStream {
  epoch = 0
  offset = 0
  snapshotLength = 0
  status = 0
  received = 0
  readonly ended: Promise<void>
  readonly opened: Promise<void>
  response: http.IncomingMessage | null = null
  private chunks: Buffer[] = []
  private waiting: (() => void)[] = []
  private over = false
  private readonly request: http.ClientRequest

  constructor(daemon: Daemon, id: string, workerId: string, call = "output?offset=0", onData?: (bytes: Buffer) => void) {
    let settle: () => void = () => undefined
    let settleOpened: () => void = () => undefined
    this.ended = new Promise((resolve) => {
      settle = resolve
    })
    this.opened = new Promise((resolve) => {
      settleOpened = resolve
    })
    const finish = () => {
      this.over = true
      settleOpened()
      settle()
      this.tell()
    }
    const headers = { authorization: `Bearer ${daemon.file.secret}` }
    this.request = http.get(`${daemon.file.endpoint}/sessions/${id}/ptys/${workerId}/${call}`, { headers, agent: false }, (response) => {
      this.response = response
      this.status = response.statusCode ?? 0
      this.epoch = Number(response.headers[PTY_EPOCH_HEADER])
      this.offset = Number(response.headers[PTY_OFFSET_HEADER])
      this.snapshotLength = Number(response.headers[PTY_SNAPSHOT_HEADER] ?? 0)
      settleOpened()
      response.on("data", (bytes: Buffer) => {
        this.received += bytes.length
        if (onData) onData(bytes)
        else this.chunks.push(bytes)
        this.tell()
      })
      response.on("error", () => undefined)
      response.on("close", finish)
    })
    this.request.on("error", finish)
  }

  bytes(): Buffer {
    const all = Buffer.concat(this.chunks)
    this.chunks = [all]
    return all
  }

  get snapshot(): Buffer {
    return this.bytes().subarray(0, this.snapshotLength)
  }

  /** All that was received, as text, once it holds what is waited for. */
  async until(wanted: string | RegExp | ((text: string) => boolean)): Promise<string> {
    const holds = (text: string) =>
      typeof wanted === "string" ? text.includes(wanted) : wanted instanceof RegExp ? wanted.test(text) : wanted(text)
    for (;;) {
      const text = this.bytes().toString("utf8")
      if (holds(text)) return text
      if (this.over) throw new Error(`the stream ended without ${wanted}: ${JSON.stringify(text.slice(-2000))}`)
      await new Promise<void>((resolve) => this.waiting.push(resolve))
    }
  }

  async untilReceived(bytes: number): Promise<void> {
    while (this.received < bytes && !this.over) await new Promise<void>((resolve) => this.waiting.push(resolve))
  }

  close(): void {
    this.request.destroy()
  }

  private tell(): void {
    for (const resolve of this.waiting.splice(0)) resolve()
  }
}

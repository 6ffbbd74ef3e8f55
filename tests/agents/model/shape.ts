import type { ServerResponse } from "node:http"
import { setTimeout as delay } from "node:timers/promises"
import type { Conversation, Json } from "./conversation"
import type { Reply } from "./script"

export type Answer = Exclude<Reply, { kind: "error" }>

/** One vendor's API: how its requests are read and its answers written. */
export type Shape = {
  name: string
  path: RegExp
  streams(body: Json, path: string): boolean
  read(body: Json): Conversation
  whole(body: Json, answer: Answer): Json
  stream(body: Json, answer: Answer, out: EventStream): Promise<void>
  error(status: number): Json
}

export type EventStream = {
  event(data: Json | string, name?: string): void
  /** Piece by piece, at the script's pace, for as long as somebody reads. */
  speak(answer: Answer, piece: (text: string) => void): Promise<void>
}

/** `hold` settles when the answer may go on. */
export function openEventStream(response: ServerResponse, hold: () => Promise<void>): EventStream {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" })
  return {
    event(data, name) {
      if (response.destroyed) return
      response.write(`${name ? `event: ${name}\n` : ""}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`)
    },
    async speak(answer, piece) {
      if (answer.kind !== "text") return
      for (const [at, text] of answer.pieces.entries()) {
        if (answer.pause_ms > 0) await delay(answer.pause_ms)
        if (answer.hold_every && at > 0 && at % answer.hold_every === 0) await hold()
        if (response.destroyed) return
        piece(text)
      }
    },
  }
}

let ids = 0
export const nextId = (prefix: string): string => `${prefix}_${String(++ids).padStart(8, "0")}`
export const wholeText = (answer: Answer): string => (answer.kind === "text" ? answer.pieces.join("") : "")

/** The type decides whether an agent tries again by itself. */
export const openaiError = (status: number): Json => ({
  error: { message: `the script says ${status}`, type: status < 500 ? "invalid_request_error" : "server_error", code: null },
})

import type { Readable, Writable } from "node:stream"
import type { AnyMessage, Stream } from "@agentclientprotocol/sdk"
import { isDeeperThan, MAX_JSON_DEPTH } from "../../../lib/host/json-depth"
import { messageOf } from "../failure"
import type { Rejected, RejectedWriter } from "../rejected-files"
import { isObject } from "./updates"

/** A longer line is not kept in memory; it is reported and skipped. */
const MAX_LINE_BYTES = 16 * 1024 * 1024

export interface Wire {
  stream: Stream
  /** Resolves when everything the agent wrote has been handled. */
  drained: Promise<void>
  /** Resolves when the answer to this request of the agent has been handed to its pipe. */
  answered(requestId: unknown): Promise<void>
}

export interface WireHandlers {
  /** Every session/update, in order, also of kinds the SDK would drop. */
  update(params: Record<string, unknown>): void
  garbage(line: string): void
  /** Takes what cannot be journalled, piece by piece. */
  beginRejected(): RejectedWriter
  rejected(what: Rejected, reason: string): void
  /** Waits while the session may not take more. */
  room(): Promise<void>
}

/**
 * The agent's pipes as the SDK's stream, with a tap in front: updates are handled here one after the other, lines that
 * are no JSON never reach the SDK (it would answer them with errors), and nothing is read ahead of what has been handled.
 */
export function openWire(stdin: Writable, stdout: Readable, handlers: WireHandlers): Wire {
  let finish: () => void
  const drained = new Promise<void>((resolve) => {
    finish = resolve
  })
  const waiting = new Map<unknown, () => void>()
  const messages = readMessages(stdout, handlers)
  const readable = new ReadableStream<AnyMessage>(
    {
      async pull(controller) {
        try {
          const next = await messages.next()
          if (!next.done) return controller.enqueue(next.value)
        } catch (error) {
          // Unfinished, the agent would never count as gone, and its session would look alive for ever.
          finish()
          throw error
        }
        finish()
        controller.close()
      },
    },
    { highWaterMark: 0 },
  )
  const writable = new WritableStream<AnyMessage>({
    write(message) {
      if (stdin.destroyed || stdin.writableEnded) throw new Error("the agent's input is closed")
      stdin.write(`${JSON.stringify(message)}\n`)
      if ("id" in message && !("method" in message)) waiting.get(message.id)?.()
    },
  })
  return {
    stream: { readable, writable },
    drained,
    answered: (requestId) =>
      new Promise((resolve) => {
        waiting.set(requestId, () => {
          waiting.delete(requestId)
          resolve()
        })
      }),
  }
}

async function* readMessages(stdout: Readable, handlers: WireHandlers): AsyncGenerator<AnyMessage> {
  for await (const line of readLines(stdout, handlers)) {
    await handlers.room()
    const text = line.toString("utf8").trim()
    if (text === "") continue
    const reject = (reason: string) => {
      const writer = handlers.beginRejected()
      writer.write(line)
      handlers.rejected(writer.end(), reason)
    }
    if (isDeeperThan(text, MAX_JSON_DEPTH)) {
      reject(`a message nested deeper than ${MAX_JSON_DEPTH} levels`)
      continue
    }
    const message = parseMessage(text)
    if (!message) {
      handlers.garbage(text)
    } else if ("method" in message && message.method === "session/update" && !("id" in message) && isObject(message.params)) {
      try {
        handlers.update(message.params)
      } catch (error) {
        reject(`an update that could not be recorded: ${messageOf(error)}`)
      }
    } else {
      yield message
      // The SDK passes answers and requests on in later ticks; an update that follows must not overtake them.
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
}

function parseMessage(text: string): AnyMessage | null {
  if (!text.startsWith("{")) return null
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) && value.jsonrpc === "2.0" ? (value as AnyMessage) : null
  } catch {
    return null
  }
}

async function* readLines(stdout: Readable, handlers: WireHandlers): AsyncGenerator<Buffer> {
  let parts: Buffer[] = []
  let length = 0
  let skipped: RejectedWriter | null = null
  const take = (bytes: Buffer) => {
    if (skipped) return skipped.write(bytes)
    parts.push(bytes)
    length += bytes.length
    if (length <= MAX_LINE_BYTES) return
    skipped = handlers.beginRejected()
    for (const part of parts) skipped.write(part)
    parts = []
  }
  const end = (): Buffer | null => {
    const line = skipped ? null : Buffer.concat(parts)
    if (skipped) {
      const what = skipped.end()
      handlers.rejected(what, `a message of ${what.bytes} bytes is too large`)
    }
    parts = []
    length = 0
    skipped = null
    return line
  }
  try {
    for await (const chunk of stdout as AsyncIterable<Buffer>) {
      let from = 0
      for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
        take(chunk.subarray(from, at))
        from = at + 1
        const line = end()
        if (line) yield line
      }
      if (from < chunk.length) take(chunk.subarray(from))
    }
  } catch {
    // Destroyed because a stray child kept it open: the same as its end.
  }
  const last = end()
  if (last && last.length > 0) yield last
}

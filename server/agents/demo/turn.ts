import {
  type AgentContext,
  methods,
  type PermissionOption,
  type RequestPermissionRequest,
  type SessionUpdate,
} from "@agentclientprotocol/sdk"
import type { Conversation } from "./conversation"

/** One turn of the conversation: what it may use, and how it speaks. */
export class Turn {
  /** All it has said, for its own memory. */
  spoken = ""

  constructor(
    readonly client: AgentContext,
    readonly conversation: Conversation,
    readonly cwd: string,
    readonly cancelled: AbortSignal,
    readonly help: string,
    /** What came with the message, a line each. */
    readonly seen: readonly string[] = [],
  ) {}

  send(update: SessionUpdate): Promise<void> {
    return this.client.notify(methods.client.session.update, { sessionId: this.conversation.id, update })
  }

  say(text: string): Promise<void> {
    this.spoken += text
    return this.send({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } })
  }

  /** Rejects when the turn is cancelled meanwhile. */
  pause(ms: number): Promise<void> {
    this.cancelled.throwIfAborted()
    return new Promise((resolve, reject) => {
      const stop = () => {
        clearTimeout(timer)
        reject(this.cancelled.reason)
      }
      const timer = setTimeout(() => {
        this.cancelled.removeEventListener("abort", stop)
        resolve()
      }, ms)
      this.cancelled.addEventListener("abort", stop, { once: true })
    })
  }

  /** The chosen option's id, or null when the person cancelled. */
  async askPerson(toolCallId: string, title: string, options: PermissionOption[], rawInput?: unknown): Promise<string | null> {
    const request: RequestPermissionRequest = {
      sessionId: this.conversation.id,
      toolCall: { toolCallId, title, status: "pending", ...(rawInput === undefined ? {} : { rawInput }) },
      options,
    }
    const { outcome } = await this.client.request(methods.client.session.requestPermission, request)
    return outcome.outcome === "selected" ? outcome.optionId : null
  }
}

let calls = 0
export const newToolCallId = (): string => `call_${process.pid}_${++calls}`

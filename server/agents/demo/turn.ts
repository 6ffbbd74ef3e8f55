import {
  type AgentContext,
  type McpServer,
  methods,
  type PermissionOption,
  type RequestPermissionRequest,
  type SessionUpdate,
} from "@agentclientprotocol/sdk"
import type { Conversation } from "./conversation"
import type { Choices, Mode } from "./options"

/** One turn of the conversation: what it may use, and how it speaks. */
export class Turn {
  /** All it has said, for its own memory. */
  spoken = ""

  readonly conversation: Conversation
  readonly cwd: string
  readonly mcpServers: readonly McpServer[]

  constructor(
    readonly client: AgentContext,
    /** Its choices may change while the turn goes on. */
    private readonly session: { conversation: Conversation; cwd: string; mcpServers: McpServer[]; choices: Choices },
    readonly cancelled: AbortSignal,
    readonly help: string,
    /** What came with the message, a line each. */
    readonly seen: readonly string[] = [],
  ) {
    this.conversation = session.conversation
    this.cwd = session.cwd
    this.mcpServers = session.mcpServers
  }

  get mode(): Mode {
    return this.session.choices.mode
  }

  send(update: SessionUpdate): Promise<void> {
    return this.client.notify(methods.client.session.update, { sessionId: this.conversation.id, update })
  }

  /** Text with another `messageId` is another message. */
  say(text: string, messageId?: string): Promise<void> {
    this.spoken += text
    return this.send({ sessionUpdate: "agent_message_chunk", content: { type: "text", text }, ...(messageId ? { messageId } : {}) })
  }

  think(text: string): Promise<void> {
    return this.send({ sessionUpdate: "agent_thought_chunk", content: { type: "text", text } })
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

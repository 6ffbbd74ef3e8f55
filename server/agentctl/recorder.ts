import { randomUUID } from "node:crypto"
import type { NewSpoolRecord } from "../../lib/contracts/agentctl/protocol"
import { readUsage } from "./acp/setup"
import { isConversation, isObject, mapToolOutput, mapUpdate, type ReadTerminal, terminalsIn } from "./acp/updates"
import { DeltaCoalescer } from "./delta-coalescer"
import { Failure } from "./failure"
import type { RejectedFiles, RejectedWriter } from "./rejected-files"
import type { Spool } from "./spool"

/** How often a running command's output is repeated into the spool. */
const TERMINAL_REFRESH_MS = 1000
const MAX_REMEMBERED_TOOLS = 500

/** Writes what one agent says into its session's spool, in the order it was said. */
export class Recorder {
  private readonly coalescer: DeltaCoalescer
  private readonly titles = new Map<string, string>()
  private readonly embedding = new Map<string, { toolCallId: string; content: unknown }>()
  private readonly refreshes = new Map<string, NodeJS.Timeout>()
  /** While an agent loads its conversation it repeats it; that is in the journal already. */
  replaying = false
  private replayed = 0
  private firstReplay: () => void = () => undefined
  runId: string | null = null
  /** The rest of a message that is too long; it follows the message by name. */
  private overflowing: RejectedWriter | null = null

  constructor(
    private readonly spool: Spool,
    private readonly readTerminal: ReadTerminal,
    private readonly rejected: RejectedFiles,
  ) {
    this.coalescer = new DeltaCoalescer(
      {
        emit: (delta) => this.append({ kind: "message.delta", run_id: this.runId, ...delta }),
        overflow: (text) => {
          this.overflowing ??= this.rejected.begin()
          this.overflowing.write(Buffer.from(text))
        },
        ended: () => this.nameOverflow(),
      },
      () => `msg_${randomUUID()}`,
    )
  }

  update(update: unknown): void {
    if (this.replaying && isConversation(update)) {
      this.replayed++
      return this.firstReplay()
    }
    const usage = readUsage(update)
    if (usage) return this.aside({ kind: "agent.usage_reported", run_id: this.runId, usage })
    const mapped = mapUpdate(update, this.readTerminal)
    if (mapped.type === "text") return this.coalescer.push(mapped.role, mapped.text, mapped.theirs)
    this.remember(update)
    this.record({ ...mapped.record, run_id: this.runId } as NewSpoolRecord)
  }

  /** Anything but text: the text before it goes first, and the text after it is another message. */
  record(record: NewSpoolRecord): void {
    this.coalescer.endMessage()
    this.append(record)
  }

  /** Told beside the conversation: a message that is being said goes on. */
  aside(record: NewSpoolRecord): void {
    this.append(record)
  }

  /** How many updates were repeated so far; where none was, one is waited for that long. */
  async repeated(graceMs: number): Promise<number> {
    if (this.replayed > 0) return this.replayed
    let timer: NodeJS.Timeout | undefined
    await new Promise<void>((resolve) => {
      this.firstReplay = resolve
      timer = setTimeout(resolve, graceMs)
    })
    clearTimeout(timer)
    return this.replayed
  }

  endMessage(): void {
    this.coalescer.endMessage()
  }

  titleOf(toolCallId: string): string | null {
    return this.titles.get(toolCallId) ?? null
  }

  terminalChanged(terminalId: string, ended: boolean): void {
    if (!this.embedding.has(terminalId)) return
    if (ended) {
      this.cancelRefresh(terminalId)
      this.showTerminal(terminalId)
    } else if (!this.refreshes.has(terminalId)) {
      this.refreshes.set(
        terminalId,
        setTimeout(() => {
          this.refreshes.delete(terminalId)
          this.showTerminal(terminalId)
        }, TERMINAL_REFRESH_MS),
      )
    }
  }

  close(): void {
    this.coalescer.endMessage()
    for (const terminalId of [...this.refreshes.keys()]) this.cancelRefresh(terminalId)
    this.embedding.clear()
  }

  private append(record: NewSpoolRecord): void {
    try {
      this.spool.append(record)
    } catch (error) {
      // The session was deleted while its agent was still talking.
      if (!(error instanceof Failure)) throw error
    }
  }

  private nameOverflow(): void {
    if (!this.overflowing) return
    const { sha256, bytes, kept } = this.overflowing.end()
    this.overflowing = null
    this.append({ kind: "record.rejected", sha256, reason: `the last ${bytes} bytes of a message that is too long`, kept })
  }

  private cancelRefresh(terminalId: string): void {
    clearTimeout(this.refreshes.get(terminalId))
    this.refreshes.delete(terminalId)
  }

  private showTerminal(terminalId: string): void {
    const embedded = this.embedding.get(terminalId)
    const output = embedded && mapToolOutput(embedded.content, this.readTerminal)
    if (output) this.record({ kind: "tool.update", run_id: this.runId, tool_call_id: embedded.toolCallId, output })
  }

  private remember(update: unknown): void {
    if (!isObject(update) || typeof update.toolCallId !== "string") return
    if (typeof update.title === "string") this.titles.set(update.toolCallId, update.title)
    for (const terminalId of terminalsIn(update.content))
      this.embedding.set(terminalId, { toolCallId: update.toolCallId, content: update.content })
    for (const map of [this.titles, this.embedding]) {
      const oldest = map.size > MAX_REMEMBERED_TOOLS ? map.keys().next().value : undefined
      if (oldest !== undefined) map.delete(oldest)
    }
  }
}

import type { EventOf, NewEvent, SessionEvent } from "../../lib/contracts/events"

type OpenMessage = Pick<EventOf<"message.delta">, "message_id" | "role" | "run_id"> & {
  content: string
  first_seq: number
  last_seq: number
}

/** What the log has begun and not finished: the message being streamed, the tool calls still running. */
export type OpenItems = { message: OpenMessage | null; tools: ReadonlyMap<string, string | null> }

export const NOTHING_OPEN: OpenItems = { message: null, tools: new Map() }

const FINISHED = new Set(["completed", "failed", "interrupted"])

/** Pure, and the same for live ingest and for recovery, which folds the log of the open run. */
export function foldOpenItems(items: OpenItems, event: SessionEvent): OpenItems {
  switch (event.kind) {
    case "message.delta": {
      const { message_id, role, run_id, content, seq } = event
      const grown =
        items.message?.message_id === message_id
          ? { ...items.message, content: items.message.content + content, last_seq: seq }
          : { message_id, role, run_id, content, first_seq: seq, last_seq: seq }
      return { ...items, message: grown }
    }
    case "message.agent":
    case "message.thought":
      return items.message?.message_id === event.message_id ? { ...items, message: null } : items
    case "tool.call":
      return FINISHED.has(event.status) ? items : { ...items, tools: new Map(items.tools).set(event.tool_call_id, event.run_id) }
    case "tool.update": {
      if (!event.status || !FINISHED.has(event.status) || !items.tools.has(event.tool_call_id)) return items
      const tools = new Map(items.tools)
      tools.delete(event.tool_call_id)
      return { ...items, tools }
    }
    default:
      return items
  }
}

/** What is left when a run has ended; what was said outside of any run stays. */
export const withoutRun = ({ message, tools }: OpenItems, runId: string): OpenItems => ({
  message: message?.run_id === runId ? null : message,
  tools: new Map([...tools].filter(([, run_id]) => run_id !== runId)),
})

/** The complete record that replaces the deltas of the open message. */
export function closeMessage(items: OpenItems, partial: boolean): NewEvent[] {
  if (!items.message) return []
  const { message_id, role, run_id, content, first_seq, last_seq } = items.message
  const kind = role === "agent" ? "message.agent" : "message.thought"
  return [{ kind, message_id, run_id, content, first_seq, last_seq, ...(partial ? { partial: true } : {}) }]
}

/** Goes with a run's end. A tool call left open would be shown as running for ever, or worse, as done. */
export function closeAll(items: OpenItems, partial: boolean): NewEvent[] {
  const tools = [...items.tools].map(
    ([tool_call_id, run_id]): NewEvent => ({ kind: "tool.update", tool_call_id, run_id, status: "interrupted" }),
  )
  return [...closeMessage(items, partial), ...tools]
}

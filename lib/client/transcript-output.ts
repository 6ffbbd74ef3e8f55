import type { EventOf } from "@/lib/contracts/events"
import { base, type Draft, find, put } from "./transcript-draft"
import type { MessageItem, ToolItem } from "./transcript-items"

/** What an agent says and does: messages and tool calls, streamed and complete. */
const messageKey = (role: "agent" | "thought", id: string) => `${role}:${id}`

export function extendMessage(draft: Draft, event: EventOf<"message.delta">): void {
  const key = messageKey(event.role, event.message_id)
  const known = find(draft, key, "agent", "thought")
  if (!known) stillMessages(draft)
  draft.open.add(key)
  put(draft, {
    ...base(event, key),
    type: event.role,
    text: (known?.text ?? "") + event.content,
    streaming: true,
    partial: false,
    endedAt: event.ts,
  })
}

export function completeMessage(draft: Draft, event: EventOf<"message.agent" | "message.thought">): void {
  const type = event.kind === "message.agent" ? "agent" : "thought"
  const key = messageKey(type, event.message_id)
  const known = find(draft, key, "agent", "thought")
  draft.open.delete(key)
  put(draft, {
    ...base(event, key, event.first_seq),
    type,
    text: event.content,
    streaming: false,
    partial: event.partial ?? false,
    endedAt: known?.endedAt ?? null,
  })
}

/** Whatever follows a message ends its streaming look, also before its complete record is written. */
function stillMessages(draft: Draft): void {
  for (const key of draft.open) {
    const message = find(draft, key, "agent", "thought")
    if (message?.streaming) put(draft, { ...message, streaming: false } satisfies MessageItem)
  }
}

const isOpenTool = (status: ToolItem["status"]) => status === "pending" || status === "in_progress"

function putTool(draft: Draft, tool: ToolItem): void {
  if (isOpenTool(tool.status)) draft.open.add(tool.key)
  else draft.open.delete(tool.key)
  put(draft, tool)
}

export function startTool(draft: Draft, event: EventOf<"tool.call">): void {
  stillMessages(draft)
  putTool(draft, {
    ...base(event, `tool:${event.tool_call_id}`),
    type: "tool",
    title: event.title,
    toolKind: event.tool_kind,
    status: event.status,
    output: event.output,
    locations: event.locations,
    rawInput: event.raw_input,
    endedAt: isOpenTool(event.status) ? null : event.ts,
  })
}

export function updateTool(draft: Draft, event: EventOf<"tool.update">): void {
  const known = find(draft, `tool:${event.tool_call_id}`, "tool")
  const status = event.status ?? known?.status ?? "in_progress"
  putTool(draft, {
    ...(known ?? base(event, `tool:${event.tool_call_id}`)),
    type: "tool",
    title: event.title ?? known?.title ?? "tool call",
    toolKind: event.tool_kind ?? known?.toolKind ?? "other",
    status,
    output: event.output ?? known?.output ?? [],
    locations: event.locations ?? known?.locations ?? [],
    rawInput: event.raw_input ?? known?.rawInput,
    endedAt: isOpenTool(status) ? null : (known?.endedAt ?? event.ts),
  })
}

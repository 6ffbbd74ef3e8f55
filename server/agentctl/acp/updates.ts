import type { NewSpoolRecord } from "../../../lib/contracts/agentctl/protocol"
import { PlanEntry, type ToolOutput, ToolStatus } from "../../../lib/contracts/events"
import type { Role } from "../delta-coalescer"

type Json = Record<string, unknown>
type Of<K extends NewSpoolRecord["kind"]> = Extract<NewSpoolRecord, { kind: K }>
type WithoutRun<R> = Omit<R, "run_id">
export type UpdateRecord =
  | WithoutRun<Of<"tool.call">>
  | WithoutRun<Of<"tool.update">>
  | WithoutRun<Of<"plan.updated">>
  | WithoutRun<Of<"agent.update">>

export type Mapped = { type: "text"; role: Role; text: string; theirs: string | null } | { type: "record"; record: UpdateRecord }

export interface TerminalSnapshot {
  output: string
  exit_code: number | null
}
export type ReadTerminal = (terminalId: string) => TerminalSnapshot | null

/** What one session/update says, in our words. Whatever is not understood is kept as `agent.update`, never dropped. */
export function mapUpdate(update: unknown, readTerminal: ReadTerminal): Mapped {
  const other: Mapped = { type: "record", record: { kind: "agent.update", update } }
  if (!isObject(update)) return other
  switch (update.sessionUpdate) {
    case "agent_message_chunk":
      return mapChunk(update, "agent") ?? other
    case "agent_thought_chunk":
      return mapChunk(update, "thought") ?? other
    case "tool_call":
      return record(mapToolCall(update, readTerminal)) ?? other
    case "tool_call_update":
      return record(mapToolUpdate(update, readTerminal)) ?? other
    case "plan":
      return record(mapPlan(update)) ?? other
    default:
      return other
  }
}

/** Kinds that repeat the conversation when an agent loads it: history, not news. */
export const isConversation = (update: unknown): boolean =>
  isObject(update) &&
  ["user_message_chunk", "agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update", "plan"].includes(
    String(update.sessionUpdate),
  )

function mapChunk(update: Json, role: Role): Mapped | null {
  const content = update.content
  if (!isObject(content) || content.type !== "text" || typeof content.text !== "string") return null
  return { type: "text", role, text: content.text, theirs: typeof update.messageId === "string" ? update.messageId : null }
}

function mapToolCall(update: Json, readTerminal: ReadTerminal): UpdateRecord | null {
  const status = ToolStatus.safeParse(update.status ?? "pending")
  if (typeof update.toolCallId !== "string" || !status.success) return null
  return {
    kind: "tool.call",
    tool_call_id: update.toolCallId,
    title: typeof update.title === "string" ? update.title : update.toolCallId,
    tool_kind: typeof update.kind === "string" ? update.kind : "other",
    status: status.data,
    output: mapToolOutput(update.content, readTerminal) ?? [],
    locations: mapLocations(update.locations) ?? [],
    ...(update.rawInput === undefined ? {} : { raw_input: update.rawInput }),
  }
}

function mapToolUpdate(update: Json, readTerminal: ReadTerminal): UpdateRecord | null {
  const status = ToolStatus.nullish().safeParse(update.status)
  if (typeof update.toolCallId !== "string" || !status.success) return null
  const output = mapToolOutput(update.content, readTerminal)
  const locations = mapLocations(update.locations)
  return {
    kind: "tool.update",
    tool_call_id: update.toolCallId,
    ...(typeof update.title === "string" ? { title: update.title } : {}),
    ...(typeof update.kind === "string" ? { tool_kind: update.kind } : {}),
    ...(status.data ? { status: status.data } : {}),
    ...(output ? { output } : {}),
    ...(locations ? { locations } : {}),
    ...(update.rawInput == null ? {} : { raw_input: update.rawInput }),
    ...(update.rawOutput == null ? {} : { raw_output: update.rawOutput }),
  }
}

function mapPlan(update: Json): UpdateRecord | null {
  const entries = PlanEntry.array().safeParse(update.entries)
  return entries.success ? { kind: "plan.updated", entries: entries.data } : null
}

export function mapToolOutput(content: unknown, readTerminal: ReadTerminal): ToolOutput[] | null {
  return Array.isArray(content) ? content.map((item) => mapOutput(item, readTerminal)) : null
}

function mapOutput(item: unknown, readTerminal: ReadTerminal): ToolOutput {
  if (!isObject(item)) return { type: "other", value: item }
  if (item.type === "content" && isObject(item.content) && item.content.type === "text" && typeof item.content.text === "string") {
    return { type: "text", text: item.content.text }
  }
  if (item.type === "diff" && typeof item.path === "string" && typeof item.newText === "string") {
    return { type: "diff", path: item.path, old_text: typeof item.oldText === "string" ? item.oldText : null, new_text: item.newText }
  }
  if (item.type === "terminal" && typeof item.terminalId === "string") {
    return { type: "terminal", terminal_id: item.terminalId, ...(readTerminal(item.terminalId) ?? { output: "", exit_code: null }) }
  }
  return { type: "other", value: item }
}

export const terminalsIn = (content: unknown): string[] =>
  Array.isArray(content)
    ? content.flatMap((c) => (isObject(c) && c.type === "terminal" && typeof c.terminalId === "string" ? [c.terminalId] : []))
    : []

function mapLocations(locations: unknown): { path: string; line?: number | null }[] | null {
  if (!Array.isArray(locations)) return null
  return locations.flatMap((l) =>
    isObject(l) && typeof l.path === "string" ? [{ path: l.path, ...(typeof l.line === "number" ? { line: l.line } : {}) }] : [],
  )
}

/** A person decides by reading this: what would be done, in one piece of text. */
export function describeInput(rawInput: unknown): string | null {
  if (typeof rawInput === "string") return cut(rawInput)
  if (!isObject(rawInput)) return null
  for (const key of ["command", "cmd", "script", "file_path", "filePath", "path", "url", "query", "pattern"]) {
    const value = rawInput[key]
    if (typeof value === "string" && value !== "") return cut(value)
    if (Array.isArray(value) && value.length > 0 && value.every((v) => typeof v === "string")) return cut(value.join(" "))
  }
  return null
}

const MAX_DETAIL = 2000
const cut = (text: string): string => (text.length > MAX_DETAIL ? `${text.slice(0, MAX_DETAIL).replace(/[\uD800-\uDBFF]$/, "")}…` : text)

const record = (r: UpdateRecord | null): Mapped | null => (r ? { type: "record", record: r } : null)
export const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)

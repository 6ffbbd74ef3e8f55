import { type Attachment, isPicture } from "../../lib/contracts/attachments"
import type { SessionEvent } from "../../lib/contracts/events"

/** Limits of the injected history, in characters. A history larger than the budget loses its oldest entries first. */
export const MESSAGE_LIMIT = 2_000
export const TOOL_RESULT_LIMIT = 500
export const TOTAL_BUDGET = 60_000

/**
 * The text that goes in front of the first prompt to an agent that cannot load its own session. Depends on nothing but the
 * events of finished runs, so that a repeated hand-over after a crash carries the very same bytes.
 */
export function renderContext(events: readonly SessionEvent[], request: string, briefing: readonly string[] | null = null): string {
  const history = newestWithin(historyEntries(events), TOTAL_BUDGET)
  return [
    "RESUME CONTEXT FOR CONTINUING TASK",
    "",
    "=== EXECUTION HISTORY ===",
    ...history,
    "",
    "=== CURRENT REQUEST ===",
    request,
    "",
    "=== INSTRUCTIONS ===",
    "You are continuing work on the above task. The history shows what was said and done before.",
    "Do not repeat work that was already completed.",
    ...(briefing ?? []),
  ].join("\n")
}

/** What an agent saw and said, in order: a user's message stands where it was delivered, not where it was queued. */
function historyEntries(events: readonly SessionEvent[]): string[] {
  const waiting = new Map<string, string>()
  const brought = new Map<string, readonly Attachment[]>()
  const tools = new Map<string, string>()
  const entries: string[] = []
  for (const event of events) {
    switch (event.kind) {
      case "prompt.queued":
        brought.set(event.prompt_id, event.attachments ?? [])
        waiting.set(event.prompt_id, event.content)
        break
      case "prompt.edited":
        waiting.set(event.prompt_id, event.content)
        break
      case "prompt.delivering":
        entries.push(
          [`[USER]: ${cut(waiting.get(event.prompt_id) ?? "", MESSAGE_LIMIT)}`, ...(brought.get(event.prompt_id) ?? []).map(named)].join(
            "\n",
          ),
        )
        break
      case "message.agent":
        entries.push(`[ASSISTANT]: ${cut(event.content, MESSAGE_LIMIT)}`)
        break
      case "tool.call":
        tools.set(event.tool_call_id, event.title)
        entries.push(`[TOOL CALL: ${event.title}]`)
        break
      case "tool.update": {
        if (event.status !== "completed" && event.status !== "failed") break
        const text = (event.output ?? [])
          .map((part) => (part.type === "text" ? part.text : part.type === "terminal" ? part.output : ""))
          .join("\n")
        entries.push(`[TOOL RESULT: ${tools.get(event.tool_call_id) ?? event.tool_call_id}] ${cut(text, TOOL_RESULT_LIMIT)}`)
        break
      }
      default:
        break
    }
  }
  return entries
}

/** In words: what it looked like went to the agent that saw it. */
const named = (attachment: Attachment) => `[${isPicture(attachment) ? "picture" : "file"}: ${attachment.name}]`

/** Whole characters only: half of a surrogate pair would reach the agent as garbage. */
export function cut(text: string, limit: number): string {
  if (text.length <= limit) return text
  const characters = Array.from(text)
  return characters.length <= limit ? text : `${characters.slice(0, limit).join("")}… [cut]`
}

function newestWithin(entries: readonly string[], budget: number): string[] {
  const kept: string[] = []
  let left = budget
  for (const entry of [...entries].reverse()) {
    left -= entry.length + 1
    if (left < 0) break
    kept.unshift(entry)
  }
  return kept.length < entries.length ? [`[… ${entries.length - kept.length} earlier entries left out]`, ...kept] : kept
}

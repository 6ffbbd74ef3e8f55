import type { Item } from "@/lib/client/transcript-items"
import { NoteRow, ReceiptRow, RunEndRow } from "./dividers"
import { AgentMessage, Thought, UserBubble } from "./messages"
import { PlanCard } from "./plan-card"
import { ToolCall } from "./tool-call"
import { WaitCard } from "./wait-card"

export function TranscriptRow({ item }: { item: Item }) {
  switch (item.type) {
    case "user":
      return <UserBubble item={item} />
    case "agent":
      return <AgentMessage item={item} />
    case "thought":
      return <Thought item={item} />
    case "tool":
      return <ToolCall item={item} />
    case "plan":
      return <PlanCard item={item} />
    case "wait":
      return <WaitCard item={item} />
    case "run_end":
      return <RunEndRow item={item} />
    case "receipt":
      return <ReceiptRow item={item} />
    case "note":
      return <NoteRow item={item} />
  }
}

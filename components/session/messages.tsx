"use client"

import { ChevronRight } from "lucide-react"
import { memo } from "react"
import { SentAttachments } from "@/components/attachments/sent-attachments"
import { cn } from "@/components/ui/cn"
import { formatSpan } from "@/lib/client/format"
import type { MessageItem, UserItem } from "@/lib/client/transcript-items"
import { Markdown } from "./markdown"
import { useFold } from "./use-fold"

export const UserBubble = memo(function UserBubble({ item }: { item: UserItem }) {
  return (
    <div className="ml-auto flex max-w-[78%] flex-col items-end gap-1.5 phone:max-w-[88%]">
      <span className="sr-only">You: </span>
      <SentAttachments attachments={item.attachments} />
      {item.text !== "" && (
        <div className="max-w-full whitespace-pre-wrap break-words rounded-lg rounded-br-[4px] border border-line bg-raised px-3 py-2">
          {item.text}
        </div>
      )}
    </div>
  )
})

export const AgentMessage = memo(function AgentMessage({ item }: { item: MessageItem }) {
  return (
    <div className="prose-agent">
      <Markdown text={item.text} streaming={item.streaming} />
      {item.partial && <p className="mt-1 text-s text-warn">cut off</p>}
    </div>
  )
})

function thoughtWords(item: MessageItem): string {
  if (item.streaming) return "Thinking…"
  const span = item.endedAt ? Date.parse(item.endedAt) - Date.parse(item.ts) : 0
  return span >= 1000 ? `Thought for ${formatSpan(span)}` : "Thought"
}

export const Thought = memo(function Thought({ item }: { item: MessageItem }) {
  const [open, toggle] = useFold(item.key)
  return (
    <div>
      <button
        type="button"
        aria-expanded={open}
        onClick={toggle}
        className="-ml-1 flex items-center gap-1 rounded-sm px-1 text-text-3 hover:text-text-2 touch:min-h-11"
      >
        <ChevronRight className={cn("size-3.5 transition-transform", open && "rotate-90")} />
        <span className={cn(item.streaming && "animate-breathe")}>{thoughtWords(item)}</span>
        {item.partial && <span className="text-warn">· cut off</span>}
      </button>
      {open && (
        <div className="prose-agent mt-1 ml-[6px] border-line border-l-2 pl-3.5 text-text-2" style={{ fontSize: 13 }}>
          <Markdown text={item.text} streaming={item.streaming} />
        </div>
      )}
    </div>
  )
})

"use client"

import {
  ArrowRightLeft,
  Brain,
  ChevronRight,
  FileText,
  Globe,
  type LucideIcon,
  Pencil,
  Search,
  Terminal,
  Trash2,
  Wrench,
} from "lucide-react"
import { memo } from "react"
import { cn } from "@/components/ui/cn"
import { Glyph, type GlyphName } from "@/components/ui/glyph"
import { diffLines } from "@/lib/client/diff-lines"
import { formatSpan } from "@/lib/client/format"
import { lookUp } from "@/lib/client/look-up"
import type { ToolItem } from "@/lib/client/transcript-items"
import type { ToolStatus } from "@/lib/contracts/events"
import { ToolBody } from "./tool-body"
import { useFold } from "./use-fold"

const icons: Record<string, LucideIcon> = {
  read: FileText,
  edit: Pencil,
  delete: Trash2,
  move: ArrowRightLeft,
  search: Search,
  execute: Terminal,
  think: Brain,
  fetch: Globe,
}

const statusGlyph: Record<ToolStatus, GlyphName> = {
  pending: "idle",
  in_progress: "work",
  completed: "done",
  failed: "cross",
  interrupted: "warn",
}
const statusWord: Record<ToolStatus, string> = {
  pending: "waiting",
  in_progress: "running",
  completed: "done",
  failed: "failed",
  interrupted: "interrupted",
}

/** "+12 −3", "exit 1", and how long it took: what one wants to know before opening it. */
function summary(item: ToolItem): string {
  const parts: string[] = []
  const diffs = item.output.filter((part) => part.type === "diff").map((part) => diffLines(part.old_text, part.new_text))
  if (diffs.length > 0) parts.push(`+${diffs.reduce((n, d) => n + d.added, 0)} −${diffs.reduce((n, d) => n + d.removed, 0)}`)
  for (const part of item.output) if (part.type === "terminal" && part.exit_code) parts.push(`exit ${part.exit_code}`)
  if (item.status !== "completed") parts.push(statusWord[item.status])
  const took = item.endedAt ? Date.parse(item.endedAt) - Date.parse(item.ts) : 0
  if (took >= 1000 && item.status !== "interrupted") parts.push(formatSpan(took))
  return parts.join(" · ")
}

export const ToolCall = memo(function ToolCall({ item }: { item: ToolItem }) {
  const [open, toggle] = useFold(item.key)
  const Icon = lookUp(icons, item.toolKind) ?? Wrench
  return (
    <div className="overflow-hidden rounded-md border border-line-soft text-s">
      <button
        type="button"
        aria-expanded={open}
        onClick={toggle}
        className="flex w-full items-center gap-2 px-2.5 py-1.5 text-left text-text-2 hover:bg-[color-mix(in_oklab,var(--hover)_50%,transparent)] touch:min-h-11"
      >
        <Glyph name={statusGlyph[item.status]} />
        <span className="sr-only">{statusWord[item.status]}: </span>
        <Icon className="size-3.5 shrink-0 text-text-3" aria-label={item.toolKind} />
        <span className="min-w-0 truncate font-mono text-text">{item.title}</span>
        <span className="ml-auto shrink-0 text-text-3 tabular-nums">{summary(item)}</span>
        <ChevronRight className={cn("size-3.5 shrink-0 text-text-3 transition-transform", open && "rotate-90")} />
      </button>
      {open && <ToolBody item={item} />}
    </div>
  )
})

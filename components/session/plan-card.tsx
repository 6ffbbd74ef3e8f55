import { memo } from "react"
import { cn } from "@/components/ui/cn"
import { Glyph } from "@/components/ui/glyph"
import type { PlanItem } from "@/lib/client/transcript-items"
import type { PlanEntry } from "@/lib/contracts/events"

const entryGlyph = { pending: "idle", in_progress: "work", completed: "done" } as const
const entryWord: Record<PlanEntry["status"], string> = { pending: "to do", in_progress: "doing", completed: "done" }

export const PlanCard = memo(function PlanCard({ item }: { item: PlanItem }) {
  const done = item.entries.filter((entry) => entry.status === "completed").length
  return (
    <section aria-label="Plan" className="rounded-md border border-line-soft px-3 py-2">
      <h3 className="mb-1 flex font-[560] text-s text-text-2">
        Plan
        <span className="ml-auto font-normal text-text-3 tabular-nums">
          {done} of {item.entries.length}
        </span>
      </h3>
      <ul>
        {item.entries.map((entry, at) => (
          <li key={at} className="flex items-baseline gap-2 py-0.5">
            <Glyph name={entryGlyph[entry.status]} className={cn("translate-y-[2px]", item.ended && "animate-none")} />
            <span className="sr-only">{entryWord[entry.status]}: </span>
            <span className={cn(entry.status === "completed" && "text-text-3", entry.status === "in_progress" && "font-[530]")}>
              {entry.content}
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
})

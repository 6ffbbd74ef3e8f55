"use client"

import { useVirtualizer } from "@tanstack/react-virtual"
import { ArrowDown } from "lucide-react"
import { useEffect, useLayoutEffect, useRef } from "react"
import { buttonClass } from "@/components/ui/button"
import type { Item, OpenRun } from "@/lib/client/transcript-items"
import { RowBoundary } from "./row-boundary"
import { TranscriptRow } from "./transcript-row"
import { useFollowEnd } from "./use-follow-end"
import { WorkingRow } from "./working-row"

const GAP = 14
/** Older pages are asked for before the reader reaches the top. */
const OLDER_WITHIN_ROWS = 12

const estimates: Record<Item["type"], number> = {
  user: 42,
  agent: 90,
  thought: 22,
  tool: 34,
  plan: 120,
  wait: 120,
  run_end: 20,
  receipt: 22,
  note: 20,
}

type TranscriptViewProps = {
  items: readonly Item[]
  run: OpenRun | null
  hasOlder: boolean
  loadingOlder: boolean
  /** How many messages were sent from this page. */
  sent: number
  onOlder: () => void
}

export function TranscriptView({ items, run, hasOlder, loadingOlder, sent, onOlder }: TranscriptViewProps) {
  const scroller = useRef<HTMLDivElement>(null)
  const content = useRef<HTMLDivElement>(null)
  const { away, toEnd } = useFollowEnd(scroller, content)
  const count = items.length + (run ? 1 : 0)
  const virtualizer = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: (at) => estimates[items[at]?.type ?? "thought"],
    getItemKey: (at) => items[at]?.key ?? "working",
    gap: GAP,
    paddingStart: 18,
    paddingEnd: 10,
    overscan: 8,
    // Keeps the reader's place when older pages are put in front.
    anchorTo: "end",
  })

  // A long transcript opens at its end, and the reader's own message leads back to it.
  useLayoutEffect(toEnd, [sent, toEnd])

  const rows = virtualizer.getVirtualItems()
  const first = rows[0]?.index ?? 0
  useEffect(() => {
    if (hasOlder && !loadingOlder && first < OLDER_WITHIN_ROWS) onOlder()
  }, [hasOlder, loadingOlder, first, onOlder])

  return (
    <div className="relative min-h-0 flex-1">
      <div
        ref={scroller}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so it must be reachable by keyboard.
        tabIndex={0}
        role="log"
        aria-label="Transcript"
        aria-live="off"
        className="h-full overflow-y-auto overflow-x-hidden overscroll-contain outline-none [overflow-anchor:none] focus-visible:outline-none"
      >
        <div ref={content} className="relative mx-auto w-full max-w-[796px]" style={{ height: virtualizer.getTotalSize() }}>
          {rows.map((row) => {
            const item = items[row.index]
            return (
              <div
                key={row.key}
                data-index={row.index}
                ref={virtualizer.measureElement}
                className="absolute inset-x-0 top-0 px-[18px]"
                style={{ transform: `translateY(${row.start}px)` }}
              >
                {item ? (
                  <RowBoundary item={item}>
                    <TranscriptRow item={item} />
                  </RowBoundary>
                ) : (
                  run && <WorkingRow run={run} />
                )}
              </div>
            )
          })}
        </div>
      </div>
      {loadingOlder && first < OLDER_WITHIN_ROWS && (
        <div className="-translate-x-1/2 absolute top-2 left-1/2 rounded-full border border-line bg-raised px-3 py-0.5 text-s text-text-3">
          Loading earlier…
        </div>
      )}
      {away && count > 0 && (
        <button
          type="button"
          onClick={toEnd}
          className={buttonClass("plain", "-translate-x-1/2 absolute bottom-3 left-1/2 rounded-full px-3 shadow-pop")}
        >
          <ArrowDown className="size-3.5" /> Jump to latest
        </button>
      )}
    </div>
  )
}

"use client"

import { Glyph } from "@/components/ui/glyph"
import { formatSpan } from "@/lib/client/format"
import { useNow } from "@/lib/client/hooks"
import type { OpenRun } from "@/lib/client/transcript-items"

/** The last line while a run is open. */
export function WorkingRow({ run }: { run: OpenRun }) {
  const now = useNow(1000)
  return (
    <div className="flex items-center gap-2 text-s text-text-3">
      <Glyph name="work" size={12} />
      <span>{run.cancelRequested ? "Stopping…" : "Working"}</span>
      {now > 0 && <span className="tabular-nums">{formatSpan(Math.max(1000, now - Date.parse(run.startedAt)))}</span>}
    </div>
  )
}

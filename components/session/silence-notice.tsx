"use client"

import { Button } from "@/components/ui/button"
import { plural } from "@/lib/client/format"
import { useNow } from "@/lib/client/hooks"

/** Before this an agent may well be thinking; after it the reader is told, and decides. */
const SILENT_AFTER_MS = 5 * 60_000

export function SilenceNotice({ lastEventAt, agentName, onCancel }: { lastEventAt: string; agentName: string; onCancel: () => void }) {
  const now = useNow(10_000)
  const silent = now - Date.parse(lastEventAt)
  if (now === 0 || silent < SILENT_AFTER_MS) return null
  return (
    <div role="status" className="mb-2 flex items-center gap-3 rounded-md border border-line-soft bg-panel px-3 py-1.5 text-s text-text-2">
      <span>
        {agentName} has said nothing for {plural(Math.floor(silent / 60_000), "minute")}. It may still be working.
      </span>
      <Button className="ml-auto" onClick={onCancel}>
        Cancel turn
      </Button>
    </div>
  )
}

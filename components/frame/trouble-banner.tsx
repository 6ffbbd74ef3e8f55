"use client"

import { useQueryClient } from "@tanstack/react-query"
import { useEffect } from "react"
import { Glyph } from "@/components/ui/glyph"
import { useServerTrouble } from "@/lib/client/hooks"
import type { ServerTrouble } from "@/lib/client/server-trouble"

const words: Record<ServerTrouble, string> = {
  DATABASE_UNAVAILABLE:
    "The server cannot use its database right now. What was saved is kept, and messages you send wait in this browser. Retrying automatically.",
  STORAGE_FULL:
    "The server's disk is full; an admin has to free some space. What was saved is kept, and messages you send wait in this browser. Retrying automatically.",
}

/** Above the whole frame, for as long as it lasts: no page has to say it as well. */
export function TroubleBanner() {
  const { trouble, recoveries } = useServerTrouble()
  const client = useQueryClient()
  useEffect(() => {
    if (recoveries > 0) void client.invalidateQueries()
  }, [client, recoveries])
  return (
    <div role="status">
      {trouble && (
        <div className="flex items-start gap-2.5 border-line-soft border-b bg-warn-soft px-[18px] py-2 phone:px-4">
          <Glyph name="warn" className="mt-[3px]" />
          <p className="min-w-0">{words[trouble]}</p>
        </div>
      )}
    </div>
  )
}

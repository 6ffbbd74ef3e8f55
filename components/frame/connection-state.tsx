"use client"

import { cn } from "@/components/ui/cn"
import { useConnection } from "@/lib/client/hooks"

const words = { connecting: "Connecting…", connected: "Connected", reconnecting: "Reconnecting…", signed_out: "Signed out" }

export function ConnectionState() {
  const state = useConnection()
  return (
    <span role="status" className="flex items-center gap-2">
      <span className={cn("size-[7px] rounded-full", state === "connected" ? "bg-alive" : "animate-breathe border-[1.5px] border-warn")} />
      {words[state]}
    </span>
  )
}

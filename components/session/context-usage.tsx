import { cn } from "@/components/ui/cn"
import { formatCost, formatCount } from "@/lib/client/format"
import type { AgentUsage } from "@/lib/contracts/agent-setup"

/** From here on an agent begins to leave out what was said first. */
const TIGHT = 0.8
const RADIUS = 5
const LENGTH = 2 * Math.PI * RADIUS

/** How full the agent's context is, as it last said. */
export function ContextUsage({ usage }: { usage: AgentUsage | null }) {
  if (!usage || usage.size <= 0) return null
  const part = Math.min(1, usage.used / usage.size)
  const percent = Math.round(part * 100)
  const cost = usage.cost && formatCost(usage.cost)
  const words = `Context: ${percent} % used, ${formatCount(usage.used)} of ${formatCount(usage.size)} tokens${cost ? `, ${cost} so far` : ""}`
  return (
    <span
      role="img"
      aria-label={words}
      title={words}
      className={cn("inline-flex shrink-0 items-center gap-1 tabular-nums", part >= TIGHT && "text-warn")}
    >
      <svg width="13" height="13" viewBox="0 0 14 14" fill="none" stroke="currentColor" strokeWidth="1.8" aria-hidden="true">
        <circle cx="7" cy="7" r={RADIUS} className="opacity-25" />
        <circle cx="7" cy="7" r={RADIUS} strokeDasharray={`${part * LENGTH} ${LENGTH}`} transform="rotate(-90 7 7)" />
      </svg>
      {percent} %
    </span>
  )
}

import { cn } from "@/components/ui/cn"
import { Glyph, type GlyphName } from "@/components/ui/glyph"
import type { ExecutorStatus } from "@/lib/contracts/status"

type Shown = { glyph: GlyphName; words: string; className: string }

const shown: Partial<Record<ExecutorStatus, Shown>> = {
  starting: { glyph: "work", words: "executor starting", className: "border-transparent text-text-3" },
  unknown: { glyph: "sleep", words: "executor silent", className: "border-line text-text-2" },
  error: { glyph: "cross", words: "executor error", className: "border-transparent bg-bad-soft text-bad" },
}

/** Said only when there is something to say: an executor that is ready needs no badge. */
export function ExecutorState({ status }: { status: ExecutorStatus }) {
  const state = shown[status]
  if (!state) return null
  return (
    <span role="status" className={cn("flex shrink-0 items-center gap-1.5 rounded-full border px-2 text-s", state.className)}>
      <Glyph name={state.glyph} size={11} />
      <span className="phone:sr-only">{state.words}</span>
    </span>
  )
}

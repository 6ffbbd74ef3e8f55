import { Glyph } from "@/components/ui/glyph"
import type { WorkspaceState } from "@/lib/client/workspace-state"

/** In place of a panel that needs the executor, while there is none. */
export function NotUsable({ state }: { state: Extract<WorkspaceState, { usable: false }> }) {
  return (
    <div role="status" className="grid flex-1 place-content-center justify-items-center gap-2.5 px-6 text-center text-text-2">
      <Glyph name={state.putAway ? "sleep" : "work"} size={18} />
      <p className="max-w-[420px]">{state.reason}</p>
    </div>
  )
}

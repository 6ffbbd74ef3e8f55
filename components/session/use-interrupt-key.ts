import { useEffect } from "react"
import { useLatest } from "@/lib/client/hooks"
import { isTyping, overlayOpen } from "@/lib/client/keys"

/** Escape interrupts the agent, unless it closes something in front or leaves another field. */
export function useInterruptKey(active: boolean, interrupt: () => void): void {
  const act = useLatest(interrupt)
  useEffect(() => {
    if (!active) return
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key !== "Escape" || event.isComposing || event.defaultPrevented || overlayOpen()) return
      const target = event.target
      const inComposer = target instanceof HTMLElement && target.dataset.composer !== undefined
      if (isTyping(target) && !inComposer) return
      act.current()
    }
    window.addEventListener("keydown", onKeyDown)
    return () => window.removeEventListener("keydown", onKeyDown)
  }, [active, act])
}

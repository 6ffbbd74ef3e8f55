import { useEffect } from "react"
import { useLatest } from "@/lib/client/hooks"
import { isPlainKey } from "@/lib/client/keys"

/** J and K lead from file to file while the changes are open; in the list of tasks they stay with the tasks. */
export function useFileKeys(move: (by: 1 | -1) => void): void {
  const latest = useLatest(move)
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const by = event.key === "j" ? 1 : event.key === "k" ? -1 : null
      if (by === null || !isPlainKey(event)) return
      if (event.target instanceof Element && event.target.closest("[data-task-row]")) return
      event.preventDefault()
      event.stopPropagation()
      latest.current(by)
    }
    // Before the frame's own keys hear of it.
    window.addEventListener("keydown", onKeyDown, { capture: true })
    return () => window.removeEventListener("keydown", onKeyDown, { capture: true })
  }, [latest])
}

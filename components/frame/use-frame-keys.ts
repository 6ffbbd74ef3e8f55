import { useRouter } from "next/navigation"
import { useEffect } from "react"
import { isPlainKey } from "@/lib/client/keys"
import { SEARCH_ID } from "./sidebar"

type FrameActions = { togglePalette: () => void; showKeys: () => void }

export function useFrameKeys({ togglePalette, showKeys }: FrameActions): void {
  const router = useRouter()
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && !event.shiftKey && event.key.toLowerCase() === "k") {
        event.preventDefault()
        togglePalette()
        return
      }
      if (!isPlainKey(event)) return
      const action: Record<string, () => void> = {
        j: () => moveInList(1),
        k: () => moveInList(-1),
        n: () => router.push("/tasks/new"),
        "/": () => document.getElementById(SEARCH_ID)?.focus(),
        "?": showKeys,
      }
      const act = action[event.key]
      if (!act) return
      event.preventDefault()
      act()
    }
    window.addEventListener("keydown", onKeyDown)
    return () => window.removeEventListener("keydown", onKeyDown)
  }, [router, togglePalette, showKeys])
}

function moveInList(by: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>("[data-task-row]")]
  const focused = rows.indexOf(document.activeElement as HTMLElement)
  const current = focused === -1 ? rows.findIndex((row) => row.getAttribute("aria-current") === "page") : focused
  const next = rows[Math.min(rows.length - 1, Math.max(0, current + by))]
  next?.focus()
  next?.scrollIntoView({ block: "nearest" })
}

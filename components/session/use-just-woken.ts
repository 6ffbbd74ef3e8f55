import { useEffect, useRef, useState } from "react"
import type { Transcript, Waking } from "@/lib/client/transcript-items"

/** Long enough to be read, short enough not to stand in the way. */
const SHOWN_MS = 1600

/**
 * A waking that ended while this page showed it, for a moment. Never one that was over when the page was opened: its strip would only
 * move everything below it, twice, while somebody aims at a button.
 */
export function useJustWoken({ waking, woken }: Pick<Transcript, "waking" | "woken">): Waking | null {
  const [shown, setShown] = useState<Waking | null>(null)
  const watched = useRef(false)
  const before = useRef(woken)
  useEffect(() => {
    if (watched.current && waking === null && woken !== before.current) setShown(woken)
    watched.current = waking !== null
    before.current = woken
  }, [waking, woken])
  useEffect(() => {
    if (shown === null) return
    const timer = setTimeout(() => setShown(null), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [shown])
  return shown
}

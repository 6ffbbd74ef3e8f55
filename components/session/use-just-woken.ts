import { useEffect, useRef, useState } from "react"
import type { Waking } from "@/lib/client/transcript-items"

/** Long enough to be read, short enough not to stand in the way. */
const SHOWN_MS = 1600

/** A waking that ended while this page watched, for a moment: what was begun in front of someone ends in front of them. */
export function useJustWoken(woken: Waking | null): Waking | null {
  const [shown, setShown] = useState<Waking | null>(null)
  const seen = useRef<Waking | null | undefined>(undefined)
  useEffect(() => {
    const before = seen.current
    seen.current = woken
    if (before === undefined || woken === null || woken === before || !isRecent(woken)) return
    setShown(woken)
    const timer = setTimeout(() => setShown(null), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [woken])
  return shown
}

/** Older pages that are loaded later hold wakings of long ago. */
const RECENT_MS = 10_000
const isRecent = (woken: Waking) => Date.now() - Date.parse(woken.steps.at(-1)?.doneAt ?? "") < RECENT_MS

import { useState } from "react"
import { usePhone } from "@/lib/client/hooks"
import { readStored, writeStored } from "@/lib/client/stored"

const KEY = "rewake.changes.view"

/** Old and new in one column or side by side; remembered. A phone has room for one. */
export function useChangeView(): { split: boolean; setSplit: (split: boolean) => void } {
  const [split, set] = useState(() => readStored(KEY) === "split")
  const phone = usePhone()
  return {
    split: split && !phone,
    setSplit: (next) => {
      writeStored(KEY, next ? "split" : null)
      set(next)
    },
  }
}

type Memory = { folds: Map<string, boolean>; shown: Set<string>; scroll: number }
const memories = new Map<string, Memory>()

/** What was folded and how far was read, for as long as the page lives: another tab in between changes nothing. */
export function changeMemory(sessionId: string): Memory {
  const memory = memories.get(sessionId) ?? { folds: new Map(), shown: new Set(), scroll: 0 }
  memories.set(sessionId, memory)
  return memory
}

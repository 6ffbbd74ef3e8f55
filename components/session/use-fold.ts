import { useState } from "react"
import { useSessionContext } from "./session-context"

/** Remembers what was opened while the row is scrolled out of the page and back. */
export function useFold(key: string): [boolean, () => void] {
  const { folds } = useSessionContext()
  const [open, setOpen] = useState(folds.get(key) ?? false)
  const toggle = () => {
    folds.set(key, !open)
    setOpen(!open)
  }
  return [open, toggle]
}

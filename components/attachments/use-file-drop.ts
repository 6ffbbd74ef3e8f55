import { type ClipboardEvent, type RefObject, useEffect, useState } from "react"
import { useLatest } from "@/lib/client/hooks"

/** A dialog in front, or another tab, has the page to itself. */
const isInSight = (field: HTMLElement | null) => field !== null && field.offsetParent !== null && !document.querySelector("[role=dialog]")

/**
 * Files dropped anywhere on the page where the field is in sight, and pasted into it, go with the message. Left to the browser, a
 * file dropped beside the field would take the place of the page. What another part of the page has taken is not taken twice.
 */
export function useFileDrop(field: RefObject<HTMLElement | null>, onFiles: (files: readonly File[]) => void) {
  const [over, setOver] = useState(false)
  const take = useLatest(onFiles)
  useEffect(() => {
    const carries = (event: DragEvent) => !event.defaultPrevented && event.dataTransfer?.types.includes("Files") && isInSight(field.current)
    const onOver = (event: DragEvent) => {
      const ours = carries(event)
      if (ours) event.preventDefault()
      setOver(Boolean(ours))
    }
    const onLeave = (event: DragEvent) => event.relatedTarget === null && setOver(false)
    const onDrop = (event: DragEvent) => {
      setOver(false)
      if (!carries(event)) return
      event.preventDefault()
      take.current([...(event.dataTransfer?.files ?? [])])
    }
    window.addEventListener("dragover", onOver)
    window.addEventListener("dragleave", onLeave)
    window.addEventListener("drop", onDrop)
    return () => {
      window.removeEventListener("dragover", onOver)
      window.removeEventListener("dragleave", onLeave)
      window.removeEventListener("drop", onDrop)
    }
  }, [field, take])

  const onPaste = (event: ClipboardEvent) => {
    // Text copied from a document often brings a picture of itself along: the text is what was meant.
    if (event.clipboardData.types.includes("text/plain") || event.clipboardData.files.length === 0) return
    event.preventDefault()
    onFiles([...event.clipboardData.files])
  }
  return { over, onPaste }
}

import { type RefObject, useCallback, useEffect, useRef, useState } from "react"

/** Nearer to the end than this counts as being there: what comes is followed. */
const END_THRESHOLD = 80

/**
 * Keeps a growing list at its end while the reader is there, also when the room for it changes. Only the reader's own
 * scrolling upwards ends it: growth and measuring move the end too, and must not be mistaken for that.
 */
export function useFollowEnd(scroller: RefObject<HTMLElement | null>, content: RefObject<HTMLElement | null>) {
  const following = useRef(true)
  const [away, setAway] = useState(false)

  const toEnd = useCallback(() => {
    following.current = true
    setAway(false)
    const element = scroller.current
    if (element) element.scrollTop = element.scrollHeight
  }, [scroller])

  useEffect(() => {
    const element = scroller.current
    const inner = content.current
    if (!element || !inner) return
    let last = element.scrollTop
    const distance = () => element.scrollHeight - element.scrollTop - element.clientHeight
    const onScroll = () => {
      const up = element.scrollTop < last - 1
      last = element.scrollTop
      if (distance() < END_THRESHOLD) following.current = true
      else if (up) following.current = false
      setAway(!following.current && distance() > END_THRESHOLD * 2)
    }
    const keepUp = new ResizeObserver(() => {
      if (following.current) element.scrollTop = element.scrollHeight
      last = element.scrollTop
    })
    keepUp.observe(element)
    keepUp.observe(inner)
    element.addEventListener("scroll", onScroll, { passive: true })
    return () => {
      keepUp.disconnect()
      element.removeEventListener("scroll", onScroll)
    }
  }, [scroller, content])

  return { away, toEnd }
}

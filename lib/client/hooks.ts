import { type RefObject, useEffect, useRef, useState, useSyncExternalStore } from "react"
import { onServerTrouble, serverTrouble } from "./server-trouble"
import { connectionState, onConnectionState } from "./socket"
import { readStored, writeStored } from "./stored"

const never = () => () => {}

/** False on the server and during the first render in the browser. */
export const useHydrated = () =>
  useSyncExternalStore(
    never,
    () => true,
    () => false,
  )

/** The current time, renewed every `everyMs`; 0 before hydration, when the server's and the reader's clocks could differ. */
export function useNow(everyMs: number): number {
  const [now, setNow] = useState(0)
  useEffect(() => {
    setNow(Date.now())
    const timer = setInterval(() => setNow(Date.now()), everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
  return now
}

/** Timers count to 2³¹ ms at most; a moment further away is looked at again then. */
const LONGEST_TIMER_MS = 2_000_000_000

/** Whether a moment has passed, told in that moment. */
export function usePast(iso: string | null): boolean {
  const [past, setPast] = useState(false)
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const look = () => {
      const left = iso === null ? Number.POSITIVE_INFINITY : Date.parse(iso) - Date.now()
      setPast(left <= 0)
      if (left > 0 && iso !== null) timer = setTimeout(look, Math.min(left, LONGEST_TIMER_MS))
    }
    look()
    return () => clearTimeout(timer)
  }, [iso])
  return past
}

/** Below this the list and the page are screens of their own; the same width as the style sheet's. */
const PHONE = "(width < 700px)"
const onPhoneChange = (listener: () => void) => {
  const media = matchMedia(PHONE)
  media.addEventListener("change", listener)
  return () => media.removeEventListener("change", listener)
}
export const usePhone = () =>
  useSyncExternalStore(
    onPhoneChange,
    () => matchMedia(PHONE).matches,
    () => false,
  )

/** The value once it has stood still for `ms`: what is typed is not asked for letter by letter. */
export function useSettled<T>(value: T, ms: number): T {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms)
    return () => clearTimeout(timer)
  }, [value, ms])
  return settled
}

export const useServerTrouble = () => useSyncExternalStore(onServerTrouble, serverTrouble, serverTrouble)

export const useConnection = () => useSyncExternalStore(onConnectionState, connectionState, () => "connecting" as const)

/** A text that survives a reload. */
export function useDraft(key: string): [string, (text: string) => void] {
  const [draft, setDraft] = useState({ key, text: "" })
  useEffect(() => setDraft({ key, text: readStored(key) ?? "" }), [key])
  const set = (text: string) => {
    writeStored(key, text === "" ? null : text)
    setDraft({ key, text })
  }
  return [draft.key === key ? draft.text : "", set]
}

/** Moves the focus to a field that has just appeared, unless the reader is already elsewhere on the page. */
export const focusOnMount = (element: HTMLElement | null) => {
  if (element && document.activeElement === document.body) element.focus()
}

/** For what was opened on purpose, wherever the focus was. */
export const takeFocus = (element: HTMLElement | null) => element?.focus()

/** Grows a text field with its content, up to the height its style allows. */
export function useAutoHeight(field: RefObject<HTMLTextAreaElement | null>, text: string): void {
  useEffect(() => {
    const element = field.current
    if (!element) return
    element.style.height = "auto"
    element.style.height = `${element.scrollHeight + 2}px`
  }, [field, text])
}

/** The newest value, for listeners that are installed once. */
export function useLatest<T>(value: T): RefObject<T> {
  const ref = useRef(value)
  useEffect(() => {
    ref.current = value
  })
  return ref
}

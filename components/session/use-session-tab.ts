import { useSearchParams } from "next/navigation"

export const SESSION_TABS = ["chat", "timeline"] as const
export type SessionTab = (typeof SESSION_TABS)[number]

/** Which view of the session is open: in the address, so that a reload or a link shows the same. */
export function useSessionTab(): [SessionTab, (tab: SessionTab) => void] {
  const named = useSearchParams().get("tab")
  const tab = SESSION_TABS.find((name) => name === named) ?? "chat"
  // The history's own call: the router's would ask the server for a page that is here already.
  const set = (next: SessionTab) => window.history.replaceState(null, "", next === "chat" ? location.pathname : `?tab=${next}`)
  return [tab, set]
}

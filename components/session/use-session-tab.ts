import { useSearchParams } from "next/navigation"

export const SESSION_TABS = ["chat", "changes", "files", "timeline"] as const
export type WorkerTab = `wrk_${string}`
export type SessionTab = (typeof SESSION_TABS)[number] | WorkerTab

export const isWorkerTab = (name: string | null): name is WorkerTab => name?.startsWith("wrk_") ?? false

/** Which view of the session is open, and which terminal beside it: in the address, so that a reload or a link shows the same. */
export function useSessionTab() {
  const params = useSearchParams()
  const named = params.get("tab")
  const tab: SessionTab = SESSION_TABS.find((name) => name === named) ?? (isWorkerTab(named) ? named : "chat")
  const split = isWorkerTab(tab) && isWorkerTab(params.get("split")) ? params.get("split") : null
  return {
    tab,
    split,
    setTab: (next: SessionTab) => show(next, isWorkerTab(next) && split !== next ? split : null),
    setSplit: (next: string | null) => show(tab, next),
  }
}

/** The history's own call: the router's would ask the server for a page that is here already. */
function show(tab: SessionTab, split: string | null): void {
  const beside = split ? `&split=${split}` : ""
  window.history.replaceState(null, "", tab === "chat" ? location.pathname : `?tab=${tab}${beside}`)
}

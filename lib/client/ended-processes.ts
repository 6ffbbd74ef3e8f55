import type { Item } from "./transcript-items"

export type EndedProcess = { key: string; what: string; command: string }

/** What the newest receipt that speaks of a terminal says ended in it and can be run again. Pure. */
export function endedIn(items: readonly Item[], workerId: string): EndedProcess[] {
  for (let at = items.length - 1; at >= 0; at--) {
    const item = items[at]
    if (item?.type !== "receipt") continue
    const mine = item.receipt.processes.filter((process) => process.worker_id === workerId)
    if (mine.length === 0) continue
    return mine.flatMap(({ what, outcome, command }, n) =>
      outcome === "ended" && command !== undefined ? [{ key: `${item.receipt.seq}.${workerId}.${n}`, what, command }] : [],
    )
  }
  return []
}

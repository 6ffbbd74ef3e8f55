import type { EventOf } from "@/lib/contracts/events"
import { isTypable } from "@/lib/contracts/typed-line"
import type { Item } from "./transcript-items"

export type EndedProcess = { key: string; command: string }

/** The line that runs an ended process again, exactly as it would be typed; null where there is none that can be shown and typed. */
export const runnableAgain = ({ outcome, command }: EventOf<"recovery.receipt">["processes"][number]): string | null =>
  outcome === "ended" && command !== undefined && isTypable(command) ? command : null

/** What the newest receipt that speaks of a terminal says ended in it and can be run again. Pure. */
export function endedIn(items: readonly Item[], workerId: string): EndedProcess[] {
  for (let at = items.length - 1; at >= 0; at--) {
    const item = items[at]
    if (item?.type !== "receipt") continue
    const mine = item.receipt.processes.filter((process) => process.worker_id === workerId)
    if (mine.length === 0) continue
    return mine.flatMap((process, n) => {
      const command = runnableAgain(process)
      return command === null ? [] : [{ key: `${item.receipt.seq}.${workerId}.${n}`, command }]
    })
  }
  return []
}

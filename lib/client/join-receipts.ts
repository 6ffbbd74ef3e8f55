import type { EventOf } from "@/lib/contracts/events"

type Receipt = EventOf<"recovery.receipt">

/** The agent was found gone, and nothing happened until it was back: a reader told of a loss that is made good already is frightened for nothing. */
export const leadsTo = (found: Receipt, next: Receipt): boolean =>
  found.receipt_kind === "recover" && found.agent_memory === "none" && next.receipt_kind === "resume"

/** One story of two receipts: what was found, and what the session has since. */
export function joined(found: Receipt, next: Receipt): Receipt {
  const told = (process: Receipt["processes"][number]) =>
    found.processes.some(({ what, worker_id }) => what === process.what && worker_id === process.worker_id)
  return {
    ...next,
    ...{ seq: found.seq, receipt_kind: "recover", took_ms: found.took_ms + next.took_ms },
    processes: [...found.processes, ...next.processes.filter((process) => !told(process))],
    attempts: [...found.attempts, ...next.attempts],
  }
}

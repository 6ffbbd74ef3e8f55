import type { NewEvent } from "../../lib/contracts/events"
import type { WorkerType, WorkerView } from "../../lib/contracts/workers"
import type { Worker } from "../platform/database"

/** More tabs than this in one session is a program gone wrong; each may hold a process. */
export const MAX_WORKERS = 20

/** As in a strip of tabs: by place, the older first where two have one. */
export const inOrder = <W extends Pick<Worker, "position" | "created_at" | "id">>(workers: readonly W[]): W[] =>
  [...workers].sort((a, b) => a.position - b.position || a.created_at.localeCompare(b.created_at) || a.id.localeCompare(b.id))

export const toView = (worker: Worker): WorkerView => ({
  id: worker.id,
  session_id: worker.session_id,
  type: worker.type as WorkerType,
  name: worker.name,
  position: worker.position,
  agent: worker.agent,
  created_at: worker.created_at,
})

/** "Terminal 1", "Terminal 2": the lowest number nobody has. */
export function defaultName(kind: string, open: readonly { name: string }[]): string {
  const taken = new Set(open.map(({ name }) => name))
  for (let n = 1; ; n += 1) if (!taken.has(`${kind} ${n}`)) return `${kind} ${n}`
}

/** What moving one tab to a place says of all whose place changes by it. */
export function moved(open: readonly Worker[], id: string, position: number): Extract<NewEvent, { kind: "worker.moved" }>[] {
  const order = inOrder(open)
  const tab = order.find((worker) => worker.id === id)
  if (!tab) return []
  const rest = order.filter((worker) => worker !== tab)
  rest.splice(Math.min(position, rest.length), 0, tab)
  return rest.flatMap((worker, place) =>
    worker.position === place ? [] : [{ kind: "worker.moved" as const, worker_id: worker.id, position: place }],
  )
}

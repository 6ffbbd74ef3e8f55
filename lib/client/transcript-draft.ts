import type { SessionEvent } from "@/lib/contracts/events"
import type { Item, Prompt, Transcript } from "./transcript-items"

/** A transcript while a batch of events is applied to it; never leaves the fold. */
export type Draft = { -readonly [K in keyof Transcript]: Transcript[K] } & {
  items: Item[]
  places: Map<string, number>
  open: Set<string>
  prompts: Map<string, Prompt>
  queueChanged: boolean
}

export const base = (event: SessionEvent, key: string, order = event.seq) => ({
  key,
  order,
  ts: event.ts,
  runId: "run_id" in event ? event.run_id : null,
})

export function find<T extends Item["type"]>(draft: Draft, key: string, ...types: T[]): Extract<Item, { type: T }> | null {
  const at = draft.places.get(key)
  const item = at === undefined ? undefined : draft.items[at]
  return item && (types as string[]).includes(item.type) ? (item as Extract<Item, { type: T }>) : null
}

/** Replaces the item in its place, or puts it where it began. */
export function put(draft: Draft, item: Item): void {
  const known = draft.places.get(item.key)
  const old = known === undefined ? undefined : draft.items[known]
  if (known !== undefined && old) {
    draft.items[known] = { ...item, order: old.order, ts: old.ts }
    return
  }
  let at = draft.items.length
  while (at > 0 && (draft.items[at - 1]?.order ?? 0) > item.order) at--
  draft.items.splice(at, 0, item)
  for (let i = at; i < draft.items.length; i++) draft.places.set(draft.items[i]?.key ?? "", i)
}

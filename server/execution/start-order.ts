/** A session that waits for a free place among the running agents. */
export type WaitingStart = { session_id: string; user_id: string }

/**
 * In which order waiting sessions get the places that become free: each goes to the user with the fewest agents, counting those
 * already placed ahead, and among equals to whoever came first. So nobody waits behind another user's hundred tasks. Pure.
 */
export function startOrder<W extends WaitingStart>(waiting: readonly W[], agentsOf: ReadonlyMap<string, number>): W[] {
  const left = [...waiting]
  const counts = new Map(agentsOf)
  const order: W[] = []
  const countOf = ({ user_id }: W) => counts.get(user_id) ?? 0
  while (left.length > 0) {
    const next = left.reduce((best, one) => (countOf(one) < countOf(best) ? one : best))
    left.splice(left.indexOf(next), 1)
    counts.set(next.user_id, countOf(next) + 1)
    order.push(next)
  }
  return order
}

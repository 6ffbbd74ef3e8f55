import { DURATIONS } from "../../lib/host/durations"

/**
 * A server whose lease lapsed in an outage was renewed last before it: no other server can have renewed during the outage either, which
 * lasted at least so long.
 */
const SHORTEST_OUTAGE_MS = DURATIONS.leaseMs - DURATIONS.leaseRenewalMs

const now = () => ({ running: performance.now(), wall: Date.now() })
/** The one clock stands still while the machine sleeps, the other can be set. A gap that either shows is a gap. */
const since = (then: ReturnType<typeof now>) => Math.max(performance.now() - then.running, Date.now() - then.wall)

/**
 * Whether this server's word about the leases of others counts. An outage of the database makes all leases lapse at once, and the
 * first server back would take the others for dead: so it renews its own, and gives them one more lease to renew theirs.
 */
export function createSteadiness() {
  let steadyFrom = now()
  let renewedAt = steadyFrom
  return {
    /** `after_gap`: an outage lies between this renewal and the one before it. */
    renewed(): "in_time" | "after_gap" {
      const gap = since(renewedAt) >= SHORTEST_OUTAGE_MS
      renewedAt = now()
      if (gap) steadyFrom = renewedAt
      return gap ? "after_gap" : "in_time"
    },
    /** Counted from the start as well: what came before it may have been an outage. */
    mayJudgeOthers: () => since(renewedAt) < SHORTEST_OUTAGE_MS && since(steadyFrom) >= DURATIONS.leaseMs,
  }
}

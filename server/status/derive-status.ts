import type { Interruption, SessionStatus } from "../../lib/contracts/status"

/** What the log says of the latest run, as the session row carries it. */
export type RunFacts = {
  open_run: { run_id: string; boot_id: string; waits: readonly { token_id: string; expires_at: string }[] } | null
  interruption: Interruption | null
}
export type World = {
  now: Date
  /** Boots whose open runs are still being carried, or not yet decided upon. A run of any other boot has lost its owner. */
  isLivingBoot: (bootId: string) => boolean
  liveTokens: ReadonlySet<string>
}

/** The only place that decides what a session's status is. Time, boots and live tokens are arguments. */
export function deriveStatus(facts: RunFacts, world: World): SessionStatus {
  if (!facts.open_run) return facts.interruption ? stickyStatus(facts.interruption.reason) : "idle"
  if (!world.isLivingBoot(facts.open_run.boot_id)) return "interrupted_startup"
  const { waits } = facts.open_run
  if (waits.length === 0) return "running"
  const answerable = waits.every((wait) => world.liveTokens.has(wait.token_id) && world.now.toISOString() < wait.expires_at)
  return answerable ? "waiting" : "interrupted_waiting"
}

/** An interruption stays visible until the next run starts: otherwise a reload would hide that work was cut off. */
const stickyStatus = (reason: Interruption["reason"]): SessionStatus =>
  reason === "wait_timeout" || reason === "token_invalid" ? "interrupted_waiting" : "interrupted_startup"

import type { AdminFilter, AdminSession, Recovery } from "@/lib/contracts/admin"
import { lookUp } from "./look-up"

/** What the status pages say; pure, so that one table of words serves table, cards and tests. */
export const filterWords: Record<AdminFilter, string> = {
  all: "All",
  running: "Running",
  waiting: "Wait for a person",
  interrupted: "Interrupted",
  agent_gone: "At rest",
  executor_error: "Executor error",
}
export const FILTERS = Object.keys(filterWords) as AdminFilter[]
export const isFilter = (text: string | null): text is AdminFilter => text !== null && text in filterWords

const strategyWords: Record<NonNullable<AdminSession["resume_strategy"]>, string> = {
  adopt: "adopt",
  native: "native",
  inject: "injected history",
  idle: "new agent",
}

/** How the session would come back, and why it would not come back better; a running agent needs no reason. */
export function comesBackBy(session: AdminSession): { way: string; reason: string | null } {
  return {
    way: session.resume_strategy && session.is_resumable ? strategyWords[session.resume_strategy] : "—",
    reason: session.resume_reason === "already_running" ? null : session.resume_reason,
  }
}

export type RowAction = { action: "resume" | "stop"; word: string }

export function rowAction(session: AdminSession): RowAction | null {
  // Only its owner's word brings back a task that was put away.
  if (session.executor_status === "deleted" || session.executor_status === "reaping") return null
  if (session.is_agent_running) return { action: "stop", word: "Stop" }
  if (session.state === "ERROR") return { action: "resume", word: "Retry" }
  return session.is_resumable && session.resume_reason !== "stale_execution" ? { action: "resume", word: "Resume" } : null
}

const outcomeWords: Record<string, string> = {
  adopted: "the same agent goes on: it was adopted",
  resumed: "its agent was started again",
  interrupted: "its run could not go on and was marked interrupted",
  at_rest: "no run was open",
  not_resumable: "its agent is gone and cannot be resumed; a person decides",
  undecided: "its executor did not answer; nothing was decided",
  not_mine: "another server had it",
  failed: "recovery failed",
}
export const outcomeSentence = (outcome: string) => lookUp(outcomeWords, outcome) ?? outcome.replaceAll("_", " ")

/** One that was killed is given its end by the next server, or by another one. */
export const runningBoots = (recoveries: readonly Recovery[]): Set<string> =>
  new Set(recoveries.filter((boot) => boot.ended_at === null).map((boot) => boot.boot_id))

export const formatMs = (ms: number) => (ms < 10_000 ? `${Math.round(ms).toLocaleString("en")} ms` : `${Math.round(ms / 1000)} s`)

/** Keeps rows where they are while someone points at them: known ones in the old order, new ones behind. */
export function inOldOrder<T>(items: readonly T[], idOf: (item: T) => string, old: readonly string[]): T[] {
  const place = new Map(old.map((id, at) => [id, at]))
  const placeOf = (item: T) => place.get(idOf(item)) ?? old.length
  return [...items].sort((a, b) => placeOf(a) - placeOf(b))
}

import type { AgentRegistry } from "../agents"
import { type Coordinator, comebackFacts, loadSession, planResume } from "../execution"
import { insert, type Journal } from "../journal"
import type { Clock } from "../platform/clock"
import type { Config } from "../platform/config"
import type { Database } from "../platform/database"
import type { Logger } from "../platform/logger"
import { mayAutoResume } from "./auto-resume"
import type { Boot } from "./boot"
import { inParallel } from "./in-parallel"

/** Reconciling is short and mostly waiting; agents that start are limited by AUTO_RESUME_CONCURRENCY. */
const RECONCILE_PARALLEL = 8

export type SweepDeps = {
  db: Database
  journal: Journal
  coordinator: Coordinator
  agents: AgentRegistry
  boot: Boot
  clock: Clock
  logger: Logger
  autoResume: Config["auto_resume"]
}
type Outcome = { session_id: string; outcome: string; took_ms: number; error?: string }

/**
 * What earlier boots left: sessions with an open run, a waiting prompt, or an executor that was up. Each is claimed and
 * reconciled on its own, then its agent is brought back where that is wanted; one that fails is reported and holds nobody up.
 */
export async function bootSweep(deps: SweepDeps): Promise<void> {
  const started = deps.clock.now()
  const outcomes = await recoverSessions(deps, await leftBehind(deps.db, deps.boot.id))
  const count = (...kinds: string[]) => outcomes.filter((item) => kinds.includes(item.outcome)).length
  const finished = deps.clock.now()
  await deps.journal.write([
    insert("recovery_reports", {
      boot_id: deps.boot.id,
      started_at: started.toISOString(),
      finished_at: finished.toISOString(),
      found: outcomes.length,
      adopted: count("adopted"),
      resumed: count("resumed"),
      interrupted: count("interrupted"),
      failed: count("failed", "undecided"),
      took_ms: finished.getTime() - started.getTime(),
      details: JSON.stringify(outcomes),
    }),
  ])
  deps.logger.info({ found: outcomes.length, took_ms: finished.getTime() - started.getTime() }, "recovery finished")
}

export async function recoverSessions(deps: SweepDeps, ids: readonly string[]): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  const toWake: Outcome[] = []
  await inParallel(RECONCILE_PARALLEL, ids, async (id) => {
    const began = performance.now()
    const item: Outcome = { session_id: id, outcome: "failed", took_ms: 0 }
    outcomes.push(item)
    try {
      item.outcome = await deps.coordinator.recover(id)
      if (item.outcome !== "undecided" && item.outcome !== "not_mine" && (await wantsAgent(deps, id))) toWake.push(item)
      else deps.coordinator.poke(id)
    } catch (error) {
      deps.logger.error({ session: id, err: error }, "recovery failed")
      item.error = error instanceof Error ? error.message : String(error)
    }
    item.took_ms = Math.round(performance.now() - began)
  })
  await inParallel(deps.autoResume.concurrency, toWake, async (item) => {
    const began = performance.now()
    try {
      await deps.coordinator.pump(item.session_id, { wake: true })
      const loaded = await loadSession(deps.db, item.session_id)
      // An interrupted run stays the news of its session, also when its agent is back.
      if (loaded?.executor.agent_execution_id && item.outcome !== "interrupted") item.outcome = "resumed"
    } catch (error) {
      item.outcome = "failed"
      item.error = error instanceof Error ? error.message : String(error)
    }
    item.took_ms += Math.round(performance.now() - began)
  })
  return outcomes
}

async function wantsAgent(deps: SweepDeps, id: string): Promise<boolean> {
  const loaded = await loadSession(deps.db, id)
  if (!loaded || loaded.executor.agent_execution_id !== null) return false
  const { session } = loaded
  const plan = planResume({ ...comebackFacts(loaded, deps.agents), fresh: false, refused: new Set() })
  return mayAutoResume(deps.autoResume, {
    now: deps.clock.now(),
    last_used_at: session.updated_at,
    state: session.state,
    resumable: plan.kind === "native" || plan.kind === "inject",
  })
}

/** By index: neither query grows with history. */
export async function leftBehind(db: Database, bootId: string): Promise<string[]> {
  const [running, executors, queued] = await Promise.all([
    db.session.findMany({ where: { open_run_id: { not: null } }, select: { id: true, owner_boot_id: true } }),
    db.executorRunning.findMany({ where: { status: { in: ["starting", "ready", "error"] } }, select: { session_id: true } }),
    db.prompt.findMany({ where: { state: "queued" }, select: { session_id: true }, distinct: ["session_id"] }),
  ])
  const ids = [
    ...new Set([...running.map((row) => row.id), ...executors.map((row) => row.session_id), ...queued.map((row) => row.session_id)]),
  ]
  const mine = await db.session.findMany({ where: { id: { in: ids }, owner_boot_id: bootId }, select: { id: true } })
  const own = new Set(mine.map((row) => row.id))
  return ids.filter((id) => !own.has(id))
}

import { setTimeout as delay } from "node:timers/promises"
import { DURATIONS } from "../../lib/host/durations"
import type { AgentRegistry } from "../agents"
import { type Coordinator, type LoadedSession, loadSession } from "../execution"
import type { PlacedExecutor } from "../executors"
import { type Change, insert, type Journal } from "../journal"
import type { Clock } from "../platform/clock"
import type { Config } from "../platform/config"
import type { Database, Session } from "../platform/database"
import type { Logger } from "../platform/logger"
import { storageErrorOf } from "../platform/storage-trouble"
import { comebackFacts, lastUsed, planAsItStands } from "../status"
import { mayAutoResume } from "./auto-resume"
import type { Boot } from "./boot"
import { inParallel } from "./in-parallel"

/** Reconciling is short and mostly waiting, and what waits together shares a commit; agents that start are limited by AUTO_RESUME_CONCURRENCY. */
const RECONCILE_PARALLEL = 16

export type SweepDeps = {
  db: Database
  journal: Journal
  coordinator: Coordinator
  agents: AgentRegistry
  boot: Boot
  clock: Clock
  logger: Logger
  autoResume: Config["auto_resume"]
  /** Expired tasks stay asleep: waking them would keep them from being put away. */
  hasExpired: (session: Session) => Promise<boolean>
}
type Outcome = { session_id: string; outcome: string; took_ms: number; error?: string }

/**
 * What earlier boots left: sessions with an open run, a waiting prompt, or an executor that was up. Each is claimed and
 * reconciled on its own, then its agent is brought back where that is wanted; one that fails is reported and holds nobody up.
 */
export async function bootSweep(deps: SweepDeps, note: string | null): Promise<void> {
  const started = deps.clock.now()
  const left = await onceDatabaseAnswers(deps, () => leftBehind(deps, { atStart: true, everyone: deps.autoResume.mode === "all" }))
  const outcomes = await recoverSessions(
    deps,
    left.filter(({ owner_boot_id }) => owner_boot_id !== deps.boot.id),
  )
  const count = (...kinds: string[]) => outcomes.filter((item) => kinds.includes(item.outcome)).length
  const finished = deps.clock.now()
  const report = insert("recovery_reports", {
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
    note,
  })
  await onceDatabaseAnswers(deps, () => writeReport(deps, report))
  deps.logger.info({ found: outcomes.length, took_ms: finished.getTime() - started.getTime() }, "recovery finished")
  await onceDatabaseAnswers(deps, () => deps.boot.endDead())
}

/** An earlier try may have been written although its answer was lost. */
async function writeReport({ db, boot, journal }: SweepDeps, report: Change): Promise<void> {
  const written = await db.recoveryReport.findUnique({ where: { boot_id: boot.id }, select: { boot_id: true } })
  if (!written) await journal.write([report])
}

/** An outage in the middle of recovery must not be the end of it: a server without its sweeps would leave sessions stuck. */
async function onceDatabaseAnswers<T>({ logger }: SweepDeps, work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (storageErrorOf(error) === null) throw error
      logger.warn({ err: error }, "recovery waits for the database")
      await delay(DURATIONS.sweepMs)
    }
  }
}

export async function recoverSessions(deps: SweepDeps, left: readonly Left[]): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  const toWake: Outcome[] = []
  await inParallel(RECONCILE_PARALLEL, left, async ({ id, was_up }) => {
    const began = performance.now()
    const item: Outcome = { session_id: id, outcome: "failed", took_ms: 0 }
    outcomes.push(item)
    try {
      item.outcome = await deps.coordinator.recover(id)
      const comeback = item.outcome === "undecided" || item.outcome === "not_mine" ? "none" : await comebackOf(deps, id, was_up)
      if (item.outcome === "undecided") deps.coordinator.whenDecided(id, async () => (await comebackOf(deps, id, was_up)) === "wanted")
      if (comeback === "wanted") toWake.push(item)
      else deps.coordinator.poke(id)
      if (comeback === "impossible" && item.outcome === "at_rest") item.outcome = "not_resumable"
    } catch (error) {
      deps.logger.error({ session: id, err: error }, "recovery failed")
      item.error = error instanceof Error ? error.message : String(error)
    }
    item.took_ms = Math.round(performance.now() - began)
  })
  await inParallel(deps.autoResume.concurrency, toWake, async (item) => {
    const began = performance.now()
    try {
      await deps.coordinator.pump(item.session_id, { wake: true, onlyIfFree: true })
      noteAgent(item, await loadSession(deps.db, item.session_id))
    } catch (error) {
      item.outcome = "failed"
      item.error = error instanceof Error ? error.message : String(error)
    }
    item.took_ms += Math.round(performance.now() - began)
  })
  return outcomes
}

/**
 * For a page that needs a session's executor before the sweep has come to it, which will find the session taken: what the sweep would
 * do, except that nobody waits for the agent.
 */
export async function recoverBeforeItsTurn(deps: SweepDeps, id: string): Promise<void> {
  const before = await loadSession(deps.db, id)
  const outcome = await deps.coordinator.recover(id)
  if (!before || outcome === "undecided" || outcome === "not_mine") return
  const taken = before.session.owner_boot_id !== deps.boot.id
  const comeback = taken ? await comebackOf(deps, id, wasUp(before)) : "none"
  deps.coordinator.poke(id, { wake: comeback === "wanted" })
}

const wasUp = ({ session, executor }: LoadedSession) =>
  session.open_run_id !== null ||
  ["STARTING", "RUNNING"].includes(session.state) ||
  executor.agent_execution_id !== null ||
  executor.status === "starting"

/** An interrupted run stays the news of its session, whatever became of its agent. */
function noteAgent(item: Outcome, loaded: LoadedSession | null) {
  if (!loaded) return
  const { executor, session } = loaded
  const news = executor.agent_execution_id ? "resumed" : session.state === "ERROR" ? "failed" : item.outcome
  if (news === "failed") item.error = executor.error_message ?? "The agent could not be started."
  if (item.outcome !== "interrupted") item.outcome = news
}

/** `impossible`: its agent is gone, and nothing may be started in its place without a person's word. */
async function comebackOf(deps: SweepDeps, id: string, was_up: boolean): Promise<"wanted" | "none" | "impossible"> {
  const loaded = await loadSession(deps.db, id)
  if (!loaded || loaded.executor.agent_execution_id !== null) return "none"
  const { session, executor } = loaded
  // Cut short while its files were being unpacked, which a person had asked for.
  if (was_up && executor.restore_archive_id !== null) return "wanted"
  const plan = planAsItStands(comebackFacts(executor, deps.agents.get(session.agent).history_context_injection))
  if (plan.kind === "impossible") return "impossible"
  const wanted = mayAutoResume(deps.autoResume, {
    now: deps.clock.now(),
    last_used_at: lastUsed(session),
    state: session.state,
    was_up,
    // `idle`: it was up, and turned out to have forgotten everything. It is started anew, as it would have been without the kill.
    resumable: plan.kind === "native" || plan.kind === "inject" || (plan.kind === "idle" && was_up),
  })
  return wanted && !(await deps.hasExpired(session)) ? "wanted" : "none"
}

/** `was_up`: its agent was there, or on its way, when its server went. */
export type Left = { id: string; owner_boot_id: string | null; was_up: boolean }

/** Comparisons with '', because SQLite reads the whole table for IS NOT NULL. */
const UP = [
  `SELECT "id" FROM "sessions" WHERE "open_run_id" > ''`,
  `SELECT "id" FROM "sessions" WHERE "state" IN ('STARTING', 'RUNNING')`,
  `SELECT "session_id" AS "id" FROM "executors_running" WHERE "agent_execution_id" > ''`,
  `SELECT "session_id" AS "id" FROM "executors_running" WHERE "status" = 'starting'`,
]
const DUE = [
  `SELECT "session_id" AS "id" FROM "executors_running" WHERE "status" = 'error' AND "error_code" IN ('unreachable', 'not_reconciled')`,
  `SELECT "session_id" AS "id" FROM "executors_running" WHERE "status" = 'stopped' AND "error_code" = 'abandoned'`,
  `SELECT "session_id" AS "id" FROM "executors_running" WHERE "status" = 'reaping'`,
  `SELECT "session_id" AS "id" FROM "prompts" WHERE "state" = 'queued'`,
]
/** By a server that did not end politely: its daemon may not have been told, and the processes run on. Not by index, so at a start only. */
const TABS_CLOSED = `SELECT w."session_id" AS "id" FROM "workers" w JOIN "sessions" o ON o."id" = w."session_id"
  JOIN "boots" b ON b."id" = o."owner_boot_id" WHERE b."ended_at" IS NULL AND w."closed_at" >= b."started_at"`
const ASLEEP = `SELECT "session_id" AS "id" FROM "executors_running" WHERE "status" IN ('ready', 'error')`

/**
 * What cannot wait until somebody looks: open runs, agents that were up or starting, waiting prompts, executors that did not answer.
 * A session that sleeps is none of these, and is reconciled when it is resumed. Each by index: the time does not grow with history.
 */
export async function leftBehind(
  { db, coordinator }: SweepDeps,
  { atStart, everyone }: { atStart: boolean; everyone: boolean },
): Promise<Left[]> {
  const due = [...DUE, ...(atStart ? [TABS_CLOSED] : []), ...(everyone ? [ASLEEP] : [])]
  const rows = await db.$queryRawUnsafe<(Omit<Left, "was_up"> & PlacedExecutor & { runtime: string; was_up: number | bigint })[]>(
    `SELECT s."id", s."owner_boot_id", d."was_up", e."session_id", e."runtime", e."place_id", e."agentctl_instance_id" FROM (
      SELECT "id", MAX("was_up") AS "was_up" FROM (
        ${union(UP, 1)} UNION ALL ${union(due, 0)}
      ) found GROUP BY "id"
    ) d JOIN "sessions" s ON s."id" = d."id" JOIN "executors_running" e ON e."session_id" = s."id"`,
  )
  // What is at another place is left to the server that is there.
  return rows
    .filter((row) => coordinator.isHere(row))
    .map(({ id, owner_boot_id, was_up }) => ({ id, owner_boot_id, was_up: Number(was_up) === 1 }))
}
const union = (selects: readonly string[], was_up: 0 | 1) =>
  selects.map((select) => `SELECT "id", ${was_up} AS "was_up" FROM (${select}) q`).join(" UNION ALL ")

import { type EventKind, isTerminalKind } from "../../lib/contracts/events"
import type { Runtime, StartPlace } from "../../lib/contracts/task"
import { DURATIONS } from "../../lib/host/durations"
import type { PlacedExecutor } from "../executors"
import type { ExecutorRunning, Session } from "../platform/database"
import { createKeyedQueue } from "../platform/keyed-queue"
import { comebackFacts, planAsItStands } from "../status"
import type { ExecutionDeps } from "./context"
import { bothAsked, type PumpOptions } from "./pump-options"
import { startOrder } from "./start-order"

type Running = PlacedExecutor &
  Pick<ExecutorRunning, "runtime" | "supports_session_resume" | "resume_token"> &
  Pick<Session, "user_id" | "agent"> & { idle: boolean }
type Read = Omit<Running, "idle"> & Pick<Session, "owner_boot_id"> & { idle: number | bigint | boolean }

/** Idle longest first. What became of an agent whose executor cannot be reached is not known: counted, it might hold its place for ever. */
const RUNNING = `SELECT e."session_id", e."runtime", e."place_id", e."agentctl_instance_id", e."supports_session_resume", e."resume_token",
    s."user_id", s."agent", s."owner_boot_id",
    (s."state" = 'WAITING_FOR_INPUT' AND s."open_run_id" IS NULL AND s."open_waits" = 0 AND NOT EXISTS (
      SELECT 1 FROM "prompts" p WHERE p."session_id" = s."id" AND p."state" IN ('queued', 'held'))) AS "idle"
  FROM "executors_running" e JOIN "sessions" s ON s."id" = e."session_id"
  WHERE e."agent_execution_id" > '' AND e."status" IN ('ready', 'starting') ORDER BY COALESCE(s."active_at", s."created_at")`

const LETS_GO: ReadonlySet<EventKind> = new Set<EventKind>(["agent.exited", "executor.stopped", "executor.deleted", "prompt.withdrawn"])
/** Frees an agent's place, or makes its session one that may give up its agent. */
export const makesRoom = (kind: EventKind) => isTerminalKind(kind) || LETS_GO.has(kind)

type Waiting = { session_id: string; user_id: string; task_id: number; options: PumpOptions }

/** `no_room`: only asked whether there was a free one. */
export type Slot = "taken" | "waiting" | "no_room"

/**
 * At most `max` agents run at this place; hundreds at once would take all its memory. Adopted ones count, and adopting never ends
 * one. Where all are taken, the agent that is idle longest and can be resumed gives up its process; only where none is idle does
 * anybody wait.
 */
export function createAgentSlots(
  deps: Pick<ExecutionDeps, "db" | "executors" | "agents" | "logger" | "boot_id"> & {
    max: number
    /** Ends an idle agent, and settles when the journal knows; false when it is idle no more. */
    stopIdle: (sessionId: string) => Promise<boolean>
    /** Goes on with a start that waited; it is this session's turn. */
    start: (sessionId: string, options: PumpOptions) => Promise<unknown>
    /** The places of those who wait have changed. */
    onMoved: (waiting: readonly { user_id: string; task_id: number }[]) => void
  },
) {
  /** Starts under way, which the journal does not show yet; by session, whose they are. */
  const starting = new Map<string, { user_id: string }>()
  let waiting: Waiting[] = []
  /** As it was last worked out. */
  let places = new Map<string, StartPlace>()
  const turns = createKeyedQueue()
  const inTurn = <T>(work: () => Promise<T>) => turns.run("slots", work)

  async function running(): Promise<Running[]> {
    const rows = await deps.db.$queryRawUnsafe<Read[]>(RUNNING)
    return rows
      .filter((row) => deps.executors[row.runtime as Runtime].isHere(row))
      .map((row) => ({ ...row, idle: Boolean(Number(row.idle)) && row.owner_boot_id === deps.boot_id }))
  }

  const isResumable = (row: Running) => {
    const { kind } = planAsItStands(comebackFacts(row, deps.agents.get(row.agent).history_context_injection))
    return kind === "native" || kind === "inject"
  }

  async function makeRoom(rows: readonly Running[]): Promise<boolean> {
    for (const row of rows) {
      if (!row.idle || starting.has(row.session_id) || !isResumable(row)) continue
      const stopped = await deps.stopIdle(row.session_id).catch((error) => {
        deps.logger.warn({ session: row.session_id, err: error }, "an idle agent could not be stopped to make room")
        return false
      })
      if (!stopped) continue
      deps.logger.info({ session: row.session_id }, "an idle agent was stopped to make room for another")
      return true
    }
    return false
  }

  /** Gives out what is free. Those in `starting` afterwards have a place. */
  async function assign(): Promise<Waiting[]> {
    const chosen: Waiting[] = []
    let rows = await running()
    for (;;) {
      const agents = new Map<string, { user_id: string }>([...rows.map((row) => [row.session_id, row] as const), ...starting])
      const agentsOf = new Map<string, number>()
      for (const { user_id } of agents.values()) agentsOf.set(user_id, (agentsOf.get(user_id) ?? 0) + 1)
      const order = startOrder(waiting, agentsOf)
      const [next] = order
      const free = agents.size < deps.max
      if (!next || !(free || (await makeRoom(rows)))) {
        tell(order)
        return chosen
      }
      waiting = waiting.filter((one) => one !== next)
      starting.set(next.session_id, next)
      chosen.push(next)
      if (!free) rows = await running()
    }
  }

  function tell(order: readonly Waiting[]) {
    const before = places
    places = new Map(order.map(({ session_id }, i) => [session_id, { position: i + 1, waiting: order.length }]))
    const moved = order.filter(({ session_id }) => before.get(session_id)?.position !== places.get(session_id)?.position)
    if (moved.length > 0) deps.onMoved(moved)
  }

  function startAll(chosen: readonly Waiting[]) {
    for (const one of chosen) {
      deps
        .start(one.session_id, one.options)
        .catch((error) => deps.logger.error({ session: one.session_id, err: error }, "session work failed"))
        // It may have found nothing to start; a later start of the session has a place of its own.
        .finally(() => starting.get(one.session_id) === one && release(one.session_id))
    }
  }

  /** Whoever takes a slot releases it when its start is over, however it ended. */
  function take(session: Session, options: PumpOptions, { onlyIfFree = false } = {}): Promise<Slot> {
    const { id: session_id, user_id, task_id } = session
    return inTurn(async () => {
      if (starting.has(session_id)) return "taken"
      const rows = await running()
      if (rows.some((row) => row.session_id === session_id)) {
        starting.set(session_id, session)
        return "taken"
      }
      if (onlyIfFree && (waiting.length > 0 || rows.length + starting.size >= deps.max)) return "no_room"
      const at = waiting.findIndex((other) => other.session_id === session_id)
      const before = waiting[at]
      const one = { session_id, user_id, task_id, options: before ? bothAsked(before.options, options) : options }
      // Whoever asks again keeps the place in line.
      waiting = before ? waiting.toSpliced(at, 1, one) : [...waiting, one]
      const chosen = await assign()
      startAll(chosen.filter((one) => one.session_id !== session_id))
      return starting.has(session_id) ? "taken" : "waiting"
    })
  }

  function release(sessionId: string) {
    if (starting.delete(sessionId)) lookAgain()
  }

  /** An agent has ended or become idle. */
  function lookAgain() {
    if (waiting.length === 0) return
    inTurn(assign)
      .then(startAll)
      .catch((error) => deps.logger.warn({ err: error }, "waiting starts could not be looked at"))
  }
  // Another server of this place may have ended an agent, or a look may have failed.
  const timer = setInterval(lookAgain, DURATIONS.sweepMs)
  timer.unref()

  return {
    take,
    /** For an agent that ended under an open run: it had a place, and its run cannot wait for another. */
    hold: (session: Session) => void starting.set(session.id, session),
    release,
    lookAgain,
    /** Nobody wants the start any more. */
    cancel(sessionId: string) {
      if (!waiting.some(({ session_id }) => session_id === sessionId)) return
      waiting = waiting.filter(({ session_id }) => session_id !== sessionId)
      places.delete(sessionId)
      lookAgain()
    },
    placeOf: (sessionId: string): StartPlace | null => places.get(sessionId) ?? null,
    waiting: () => waiting.length,
    stop: () => clearInterval(timer),
  }
}

import { AppError } from "../../lib/contracts/errors"
import { isTerminalState, type SessionState } from "../../lib/contracts/status"
import type { Runtime } from "../../lib/contracts/task"
import type { Outcome } from "../../lib/contracts/waits"
import { type AgentctlClient, DaemonRefused } from "../executors"
import { isConflict, update } from "../journal"
import type { Session } from "../platform/database"
import { createKeyedQueue } from "../platform/keyed-queue"
import { attach } from "./attach"
import type { ExecutionDeps, Live } from "./context"
import { closeOpenRun, deliver, handOverAgain } from "./deliver"
import { stillOwned } from "./ownership"
import { type Reconciled, reconcile } from "./reconcile"
import { type LoadedSession, loadSession } from "./session-facts"
import { wake } from "./wake"

/** An unreachable executor is probed again and again, ever more rarely; it is never given up by itself. */
const FIRST_RETRY_MS = 250
const LAST_RETRY_MS = 60_000

export type PumpOptions = { wake?: boolean; fresh?: boolean }

/** The one thing that starts, feeds and stops agents: at most one run per session, one job at a time per session. */
export function createCoordinator(deps: ExecutionDeps) {
  const queue = createKeyedQueue()
  const owned = new Map<string, Live>()
  let closed = false

  /** Taking a session over starts with reconciling it; before that nothing is delivered, resumed or reaped. */
  async function own(session: Session): Promise<Live | null> {
    const held = owned.get(session.id)
    if (held && session.owner_boot_id === deps.boot_id && session.owner_epoch === held.owned.epoch) return held
    const mine = session.owner_boot_id === deps.boot_id
    if (!mine && session.owner_boot_id !== null && (await deps.isBootAlive(session.owner_boot_id))) return null
    const epoch = session.owner_epoch + 1
    try {
      await deps.journal.write([
        update("sessions", { id: session.id, owner_epoch: session.owner_epoch }, { owner_boot_id: deps.boot_id, owner_epoch: epoch }),
      ])
    } catch (error) {
      if (isConflict(error)) return null
      throw error
    }
    await held?.reader?.stop()
    const ref = { id: session.id, task_id: session.task_id, user_id: session.user_id }
    const live: Live = {
      owned: { ref, boot_id: deps.boot_id, epoch },
      reader: null,
      silent: false,
      cancelled: false,
      retry: null,
      retries: 0,
    }
    owned.set(session.id, live)
    return live
  }

  const attachTo = (live: Live, client: AgentctlClient, spoolId: string) =>
    attach(deps, live, client, spoolId, {
      runEnded: () => poke(live.owned.ref.id),
      end: (end) => {
        live.reader = null
        if (end.kind === "fenced") owned.delete(live.owned.ref.id)
        else if (!closed) {
          deps.logger.info({ session: live.owned.ref.id, end: end.kind }, "spool stream ended")
          retryLater(live)
        }
      },
    })

  function retryLater(live: Live) {
    if (live.retry || closed) return
    const wait = Math.min(FIRST_RETRY_MS * 2 ** live.retries, LAST_RETRY_MS)
    live.retries += 1
    live.retry = setTimeout(() => {
      live.retry = null
      settle(live.owned.ref.id, () => recoverNow(live.owned.ref.id, "daemon_lost").then(() => pumpNow(live.owned.ref.id, {})))
    }, wait)
    live.retry.unref()
  }

  /** Runs in the session's turn; what goes wrong is told in the log, never to a caller that has long gone. */
  function settle(sessionId: string, job: () => Promise<unknown>) {
    if (closed) return
    queue.run(sessionId, job).catch((error) => {
      deps.logger.error({ session: sessionId, err: error }, "session work failed")
      const live = owned.get(sessionId)
      if (live) retryLater(live)
    })
  }
  const poke = (sessionId: string, options: PumpOptions = {}) => settle(sessionId, () => pumpNow(sessionId, options))

  async function recoverNow(sessionId: string, cause: "boot" | "daemon_lost"): Promise<Reconciled | "not_mine"> {
    const session = await deps.db.session.findUnique({ where: { id: sessionId } })
    if (!session || isTerminalState(session.state as SessionState)) return "not_mine"
    const live = await own(session)
    if (!live) return "not_mine"
    try {
      const outcome = await reconcile(deps, live, attachTo, cause)
      if (outcome === "undecided") retryLater(live)
      else live.retries = 0
      return outcome
    } catch (error) {
      deps.logger.warn({ session: sessionId, err: error }, "session could not be reconciled yet")
      try {
        await markUnreachable(live, error)
      } catch (refusal) {
        // Another server has it now, and will say what it finds.
        if (isConflict(refusal)) return "not_mine"
        throw refusal
      }
      retryLater(live)
      return "undecided"
    }
  }

  /** The run stays open: an unreachable daemon may still be carrying it. */
  async function markUnreachable(live: Live, error: unknown) {
    const loaded = await loadSession(deps.db, live.owned.ref.id)
    if (!loaded || loaded.executor.status === "error") return
    const { executor, session } = loaded
    const message = error instanceof Error ? error.message : String(error)
    await deps.journal.commit({
      session: live.owned.ref,
      guards: [stillOwned(live.owned)],
      events: [
        { kind: "executor.error", executor_id: executor.id, reason: "unreachable", message },
        ...(session.state === "ERROR" || session.open_run_id !== null
          ? []
          : [{ kind: "session.state_changed", from: session.state as SessionState, to: "ERROR", cause: "unreachable" } as const]),
      ],
    })
  }

  async function pumpNow(sessionId: string, options: PumpOptions): Promise<void> {
    let fresh = options.fresh ?? false
    for (;;) {
      let loaded = await loadSession(deps.db, sessionId)
      if (!loaded || isTerminalState(loaded.session.state as SessionState)) return
      const held = owned.has(sessionId)
      const live = await own(loaded.session)
      if (!live) return deps.askOwner(sessionId, { wake: options.wake ?? false, fresh })
      live.cancelled = false
      if (!held && loaded.session.spool_id !== null) {
        if ((await recoverNow(sessionId, "boot")) === "undecided") return
        loaded = (await loadSession(deps.db, sessionId)) ?? loaded
      }
      if (loaded.session.open_run_id) return tendRun(live, loaded)

      const prompt = await deps.db.prompt.findFirst({
        where: { session_id: sessionId, state: "queued" },
        orderBy: [{ rank: "asc" }, { queued_at: "asc" }],
      })
      if (!prompt && !options.wake) return
      if (loaded.session.state === "ERROR" && !options.wake) return
      const attached = await wake(deps, live, loaded, attachTo, { fresh })
      // One fresh start was asked for; looking at the queue again must not make it two.
      fresh = false
      if (!attached || !prompt) return
      const daemon = await attached.client.session(sessionId)
      const delivery = await deliver(deps, live, attached.client, prompt, daemon.spool_id)
      if (delivery === "accepted") return
      if (delivery === "unreachable") return retryLater(live)
      if (delivery === "no_agent") await deliverToReturnedAgent(live)
    }
  }

  /** The agent went between the look and the hand-over, which the daemon refused before recording anything: bring it back, deliver once. */
  async function deliverToReturnedAgent(live: Live) {
    const { id } = live.owned.ref
    const loaded = await loadSession(deps.db, id)
    const run_id = loaded?.session.open_run_id
    if (!loaded || !run_id) return
    const attached = await wake(deps, live, loaded, attachTo, { fresh: false })
    const again = await loadSession(deps.db, id)
    const delivery = attached && again ? await handOverAgain(deps, live, attached.client, again) : "no_agent"
    if (delivery === "accepted") return
    // No answer is no refusal: whether the agent has it is for reconciliation to find out.
    if (delivery === "unreachable") return retryLater(live)
    await closeOpenRun(deps, live, {
      kind: "run.failed",
      run_id,
      reason: "agent_exited",
      message: "The agent ended before it could take the message.",
    })
  }

  /** What an open run still owes the daemon: a cancel that was asked for, answers that were given. */
  async function tendRun(live: Live, { session, tokens }: LoadedSession) {
    if (!session.open_run_id) return
    if (!live.reader) return retryLater(live)
    const { client } = live.reader
    for (const token of tokens) {
      if (token.state !== "consumed") continue
      await refusalIsFinal(
        client.putPermission(session.id, live.owned.epoch, token.request_id, JSON.parse(token.outcome ?? "null") as Outcome),
      )
    }
    if (session.cancel_requested) await refusalIsFinal(client.cancel(session.id, live.owned.epoch, session.open_run_id))
  }

  return {
    /** Something changed that this session may have to act upon. Returns at once. */
    poke,
    /** As poke, and settles when the work is done. */
    pump: (sessionId: string, options: PumpOptions = {}) => queue.run(sessionId, () => pumpNow(sessionId, options)),
    /** Another server asks the owner; everybody hears it, one acts. */
    pokeIfOwned: (sessionId: string, options: PumpOptions) => {
      if (owned.has(sessionId)) poke(sessionId, options)
    },
    /** A wake-up under way is not tried again when its present try fails. */
    cancelWake: (sessionId: string) => {
      const live = owned.get(sessionId)
      if (live) live.cancelled = true
    },
    recover: (sessionId: string) => queue.run(sessionId, () => recoverNow(sessionId, "boot")),
    isSilent: (sessionId: string) => owned.get(sessionId)?.silent ?? false,
    ownedSessions: () => [...owned.keys()],
    wasTakenOver: async () =>
      (await deps.db.session.count({ where: { id: { in: [...owned.keys()] }, NOT: { owner_boot_id: deps.boot_id } } })) > 0,

    /** A question nobody answered in time ends its run; the agent is told `cancelled`, and its turn is cancelled. */
    expireWaits: (sessionId: string) =>
      settle(sessionId, async () => {
        const loaded = await loadSession(deps.db, sessionId)
        const run_id = loaded?.session.open_run_id
        const now = deps.clock.now().toISOString()
        const late = loaded?.tokens.filter((token) => token.state === "live" && token.expires_at <= now) ?? []
        if (!loaded || !run_id || late.length === 0) return
        const live = await own(loaded.session)
        if (!live) return
        await closeOpenRun(
          deps,
          live,
          { kind: "run.interrupted", run_id, reason: "wait_timeout" },
          late.map((token) => token.id),
        )
        if (live.reader) await refusalIsFinal(live.reader.client.cancel(sessionId, live.owned.epoch, run_id))
      }),

    /** Ends the agent and keeps everything else. */
    stop: (sessionId: string) =>
      queue.run(sessionId, async () => {
        const loaded = await loadSession(deps.db, sessionId)
        if (!loaded) return
        const live = await own(loaded.session)
        if (!live) throw new AppError("CONFLICT", "Another server is working on this session.", {})
        const client = await deps.executors[loaded.executor.runtime as Runtime].reconnect(loaded.executor)
        if (client) await refusalIsFinal(client.stopAgent(sessionId, live.owned.epoch))
      }),

    /** Ends the agent and removes the session from its daemon, workspace included. Refuses while the daemon cannot be reached. */
    remove: (sessionId: string) =>
      queue.run(sessionId, async () => {
        const loaded = await loadSession(deps.db, sessionId)
        if (!loaded) return
        const live = await own(loaded.session)
        if (!live) throw new AppError("CONFLICT", "Another server is working on this session.", {})
        await live.reader?.stop()
        owned.delete(sessionId)
        if (loaded.session.spool_id === null) return
        const client = await deps.executors[loaded.executor.runtime as Runtime].launch(loaded.executor)
        await refusalIsFinal(client.removeSession(sessionId, live.owned.epoch))
      }),

    /** Lets go without ending anything: agents go on, the next server adopts them. */
    async close() {
      closed = true
      for (const live of owned.values()) if (live.retry) clearTimeout(live.retry)
      await Promise.allSettled([...owned.values()].map((live) => live.reader?.stop()))
      await queue.idle()
    },
  }
}
export type Coordinator = ReturnType<typeof createCoordinator>

/** The daemon knows better: what it refuses (unknown permission, no such run) is over already. Silence is not a refusal. */
async function refusalIsFinal(call: Promise<unknown>) {
  try {
    await call
  } catch (error) {
    if (!(error instanceof DaemonRefused) || error.code === "FENCED") throw error
  }
}

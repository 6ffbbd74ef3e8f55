import { AppError } from "../../lib/contracts/errors"
import { isTerminalState, type SessionState } from "../../lib/contracts/status"
import type { Runtime } from "../../lib/contracts/task"
import { DURATIONS } from "../../lib/host/durations"
import { type AgentctlClient, DaemonUnreachable, type PlacedExecutor } from "../executors"
import { isConflict } from "../journal"
import type { Session } from "../platform/database"
import { createKeyedQueue } from "../platform/keyed-queue"
import { storageErrorOf } from "../platform/storage-trouble"
import { abandon } from "./abandon"
import { createAgentSlots, makesRoom } from "./agent-slots"
import { attach } from "./attach"
import { createClaims } from "./claim"
import type { ExecutionDeps, Live } from "./context"
import { closeOpenRun, deliver, handOverAgain } from "./deliver"
import { settleOptions } from "./options"
import type { PumpOptions } from "./pump-options"
import { discard, type Reaped, reap, type SeenExpired } from "./reap"
import { markFailed, type Reconciled, reconcile } from "./reconcile"
import { loadSession } from "./session-facts"
import { type Stopped, stopEverything } from "./stop-everything"
import { stopIdleAgent } from "./stop-idle-agent"
import { expireWaits, refusalIsFinal, tendRun } from "./tend-run"
import { wake } from "./wake"

/** The one thing that starts, feeds and stops agents: at most one run per session, one job at a time per session. */
export function createCoordinator(deps: ExecutionDeps) {
  const queue = createKeyedQueue()
  const { owned, own, isForUs } = createClaims(deps)
  let closed = false
  const slots = createAgentSlots({
    ...deps,
    max: deps.max_running_agents,
    stopIdle: (sessionId) =>
      queue.isBusy(sessionId) ? Promise.resolve(false) : queue.run(sessionId, () => stopIdleAgent(deps, owned.get(sessionId))),
    start: (sessionId, options) => queue.run(sessionId, () => pumpNow(sessionId, options)),
    onMoved: (waiting) => {
      for (const { user_id, task_id } of waiting) deps.announce(user_id, task_id)
    },
  })
  const unfollow = deps.journal.follow((_session, events) => {
    if (events.some(({ kind }) => makesRoom(kind))) slots.lookAgain()
  })

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

  /** An unreachable executor is probed again and again, ever more rarely; it is never given up by itself. */
  function retryLater(live: Live) {
    if (live.retry || closed) return
    const wait = Math.min(DURATIONS.firstRetryMs * 2 ** live.retries, DURATIONS.lastRetryMs)
    live.retries += 1
    live.retry = setTimeout(() => {
      live.retry = null
      settle(live.owned.ref.id, async () => {
        if ((await recoverNow(live.owned.ref.id)) === "undecided") return
        await pumpOrRetry(live.owned.ref.id, { wake: await wantedBack(live) })
      })
    }, wait)
    live.retry.unref()
  }

  /** As retryLater, and what was asked for is wanted then too. */
  function retryAsked(live: Live, { wake }: PumpOptions) {
    if (wake) live.whenDecided ??= async () => true
    retryLater(live)
  }

  /** Asked once, when it is known what became of the session; again, where no answer came. */
  async function wantedBack(live: Live): Promise<boolean> {
    const ask = live.whenDecided
    const wanted = ask ? await ask() : false
    if (live.whenDecided === ask) live.whenDecided = null
    return wanted
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
  const poke = (sessionId: string, options: PumpOptions = {}) => settle(sessionId, () => pumpOrRetry(sessionId, options))

  async function pumpOrRetry(sessionId: string, options: PumpOptions) {
    try {
      await pumpNow(sessionId, options)
    } catch (error) {
      const live = owned.get(sessionId)
      if (live) retryAsked(live, options)
      throw error
    }
  }

  async function recoverNow(sessionId: string): Promise<Reconciled | "not_mine"> {
    const session = await deps.db.session.findUnique({ where: { id: sessionId } })
    if (!session || isTerminalState(session.state as SessionState)) return "not_mine"
    const live = await own(session)
    if (!live) return "not_mine"
    try {
      const outcome = await reconcile(deps, live, attachTo)
      if (outcome === "undecided") retryLater(live)
      else live.retries = 0
      return outcome
    } catch (error) {
      // The spool was read on meanwhile, or a person acted: what was decided upon is not so any more. Or another server has it.
      if (isConflict(error)) {
        retryLater(live)
        return "undecided"
      }
      deps.logger.warn({ session: sessionId, err: error }, "session could not be reconciled yet")
      // Nothing was found out about the session, and nothing can be said of it either.
      if (storageErrorOf(error)) {
        retryLater(live)
        return "undecided"
      }
      try {
        await markFailed(deps, live, error)
      } catch (refusal) {
        // Another server has it now, and will say what it finds.
        if (isConflict(refusal)) return "not_mine"
        throw refusal
      }
      retryLater(live)
      return "undecided"
    }
  }

  async function pumpNow(sessionId: string, options: PumpOptions): Promise<void> {
    let { fresh = false, sign_in = null } = options
    for (;;) {
      let loaded = await loadSession(deps.db, sessionId)
      if (!loaded || isTerminalState(loaded.session.state as SessionState)) return
      const held = owned.has(sessionId)
      const live = await own(loaded.session)
      if (!live) return deps.askOwner(sessionId, { wake: options.wake ?? false, fresh, sign_in })
      live.cancelled = false
      // A daemon that was silent is asked before anything is tried: failing now would only say what is known.
      if (live.silent || (!held && loaded.session.spool_id !== null)) {
        if ((await recoverNow(sessionId)) === "undecided") return retryAsked(live, options)
        loaded = (await loadSession(deps.db, sessionId)) ?? loaded
      }
      if (live.reader) await settleOptions(deps, live, live.reader.client)
      if (loaded.session.open_run_id) return live.reader ? tendRun(live, live.reader.client, loaded) : retryLater(live)

      const prompt = await deps.db.prompt.findFirst({
        where: { session_id: sessionId, state: "queued" },
        orderBy: [{ rank: "asc" }, { queued_at: "asc" }],
      })
      if (!prompt && !options.wake) return
      if (loaded.session.state === "ERROR" && !options.wake) return
      if (!(await deps.mayRun(loaded.session.user_id, loaded.session.runtime))) return
      if (loaded.executor.agent_execution_id === null) {
        const slot = await slots.take(
          loaded.session,
          { ...options, fresh, sign_in },
          { onlyIfFree: options.onlyIfFree === true && !prompt },
        )
        if (slot !== "taken") return
      }
      const attached = await wake(deps, live, loaded, attachTo, { fresh, sign_in }).finally(() => slots.release(sessionId))
      // One fresh start was asked for; looking at the queue again must not make it two.
      fresh = false
      sign_in = null
      if (!attached) return probeOnIfUnreachable(live, options)
      await settleOptions(deps, live, attached.client)
      if (!prompt) return
      const daemon = await attached.client.session(sessionId)
      const delivery = await deliver(deps, live, attached.client, prompt, daemon.spool_id)
      if (delivery === "accepted") return
      if (delivery === "unreachable") return retryLater(live)
      if (delivery === "no_agent") await deliverToReturnedAgent(live)
      if (delivery === "heard_before") await interruptAsUncertain(live)
    }
  }

  /** An executor that could not be reached may be there in a moment, and nobody else would look. */
  async function probeOnIfUnreachable(live: Live, options: PumpOptions) {
    const executor = await deps.db.executorRunning.findUnique({ where: { session_id: live.owned.ref.id } })
    if (executor?.status === "error" && executor.error_code === "unreachable") retryAsked(live, options)
  }

  /** An agent had this very message in a life this journal does not know. It is not sent twice; a person decides. */
  async function interruptAsUncertain(live: Live) {
    const run_id = (await loadSession(deps.db, live.owned.ref.id))?.session.open_run_id
    if (run_id) await closeOpenRun(deps, live, { kind: "run.interrupted", run_id, reason: "delivery_uncertain" })
  }

  /** The agent went between the look and the hand-over, which the daemon refused before recording anything: bring it back, deliver once. */
  async function deliverToReturnedAgent(live: Live) {
    const { id } = live.owned.ref
    const loaded = await loadSession(deps.db, id)
    const run_id = loaded?.session.open_run_id
    if (!loaded || !run_id) return
    slots.hold(loaded.session)
    const attached = await wake(deps, live, loaded, attachTo, { fresh: false, sign_in: null }).finally(() => slots.release(id))
    const again = await loadSession(deps.db, id)
    const delivery = attached && again ? await handOverAgain(deps, live, attached.client, again) : "no_agent"
    if (delivery === "accepted") return
    // No answer is no refusal: whether the agent has it is for reconciliation to find out.
    if (delivery === "unreachable") return retryLater(live)
    if (delivery === "heard_before") return interruptAsUncertain(live)
    await closeOpenRun(deps, live, {
      kind: "run.failed",
      run_id,
      reason: "agent_exited",
      message: "The agent ended before it could take the message.",
    })
  }

  async function discardNow(live: Live) {
    if (await discard(deps, live)) owned.delete(live.owned.ref.id)
  }

  return {
    /** Something changed that this session may have to act upon. Returns at once. */
    poke,
    /** As poke, and settles when the work is done. */
    pump: (sessionId: string, options: PumpOptions = {}) => queue.run(sessionId, () => pumpOrRetry(sessionId, options)),
    /** Another server's commit, or its asking the owner to act; everybody hears it, one acts. */
    heard: (sessionId: string, ask: PumpOptions | null) => {
      if (owned.has(sessionId)) return poke(sessionId, ask ?? {})
      if (!ask) return
      // Made here and not touched since, or at this place and left by a server that is gone: nobody else may act for it.
      settle(sessionId, async () => {
        const row = await deps.db.session.findUnique({ where: { id: sessionId } })
        if (row && (await isForUs(row))) await pumpNow(sessionId, ask)
      })
    },
    /** A wake-up under way is not tried again when its present try fails; one that waits for a person to sign in fails now. */
    cancelWake: (sessionId: string) => {
      const live = owned.get(sessionId)
      if (!live) return
      live.cancelled = true
      live.stopSigningIn?.().catch((error) => deps.logger.warn({ session: sessionId, err: error }, "sign-in not ended"))
    },
    recover: (sessionId: string) => queue.run(sessionId, () => recoverNow(sessionId)),
    /** For a session that could not be decided yet: once it is, `isWantedBack` says whether its agent is woken. */
    whenDecided: (sessionId: string, isWantedBack: () => Promise<boolean>) => {
      const live = owned.get(sessionId)
      if (live) live.whenDecided = isWantedBack
    },
    /**
     * A session that says STARTING while nobody is at it would be answered "busy" for ever: whoever looks at it has it reconciled.
     * Costs nothing in any other state, and one look-up in this.
     */
    async healStarting(session: Session): Promise<void> {
      const { id, owner_boot_id } = session
      if (session.state !== "STARTING") return
      const ours = owner_boot_id === deps.boot_id
      if (ours ? queue.isBusy(id) : owner_boot_id !== null && (await deps.isBootAlive(owner_boot_id))) return
      settle(id, async () => {
        const now = await deps.db.session.findUnique({ where: { id }, select: { state: true } })
        if (now?.state === "STARTING" && (await recoverNow(id)) !== "undecided") await pumpNow(id, {})
      })
    },
    isSilent: (sessionId: string) => owned.get(sessionId)?.silent ?? false,
    startPlaceOf: slots.placeOf,
    waitingStarts: slots.waiting,
    isHere: (executor: PlacedExecutor & { runtime: string }) => deps.executors[executor.runtime as Runtime].isHere(executor),
    isBootAlive: deps.isBootAlive,
    isPlaceServed: deps.isPlaceServed,
    /** How far the files of a session that is being restored are; null when none is. */
    restoreProgress: (sessionId: string) => owned.get(sessionId)?.restoring ?? null,
    ownedSessions: () => [...owned.keys()],
    /** What waits for its next try is tried at once: what it waited for is back. */
    retryNow: () => {
      for (const live of owned.values()) {
        if (!live.retry) continue
        clearTimeout(live.retry)
        live.retry = null
        live.retries = 0
        retryLater(live)
      }
    },

    /** A question nobody answered in time ends its run; the agent is told `cancelled`, and its turn is cancelled. */
    expireWaits: (sessionId: string) =>
      settle(sessionId, async () => {
        const session = await deps.db.session.findUnique({ where: { id: sessionId } })
        const live = session?.open_run_id ? await own(session) : null
        if (live) await expireWaits(deps, live)
      }),

    /** Gives up an executor that does not answer. Its daemon is asked again and again, and told to stop once it answers. */
    abandon: (sessionId: string) =>
      queue.run(sessionId, async () => {
        const session = await deps.db.session.findUnique({ where: { id: sessionId } })
        if (!session) return
        const live = await own(session)
        if (!live) throw notOurs()
        await abandon(deps, live)
        live.retries = 0
        retryLater(live)
      }),

    /** Ends the agent and keeps everything else. */
    stop: (sessionId: string) =>
      queue.run(sessionId, async () => {
        const loaded = await loadSession(deps.db, sessionId)
        if (!loaded) return
        const live = await own(loaded.session)
        if (!live) throw notOurs()
        const client = await deps.executors[loaded.executor.runtime as Runtime].reconnect(loaded.executor)
        if (client) await refusalIsFinal(client.stopAgent(sessionId, live.owned.epoch))
      }),

    /** For a user who may not run anything here any more. */
    stopEverything: (sessionId: string, hold: () => Promise<boolean>) =>
      queue.run(sessionId, async (): Promise<Stopped> => {
        const loaded = await loadSession(deps.db, sessionId)
        const live = loaded ? await own(loaded.session) : null
        if (!loaded || !live) return "not_yet"
        return stopEverything(deps, live, loaded, { hold, readSpool: () => recoverNow(sessionId) })
      }),

    /** Ends the agent and removes the session from its daemon, workspace included. Refuses while the daemon cannot be reached. */
    remove: (sessionId: string) =>
      queue.run(sessionId, async () => {
        const loaded = await loadSession(deps.db, sessionId)
        if (!loaded) return
        // Left to an owner that is another server, nobody would do it: the epoch raised here fences whatever that one still does.
        const live = await own(loaded.session, { takeFromLiveOwner: true })
        if (!live) throw notOurs()
        slots.cancel(sessionId)
        await live.reader?.stop()
        owned.delete(sessionId)
        if (loaded.session.spool_id === null) return
        const client = await deps.executors[loaded.executor.runtime as Runtime].launch(loaded.executor)
        await refusalIsFinal(client.removeSession(sessionId, live.owned.epoch))
      }),

    /** Archives an expired executor and lets it go. `unreachable`: nothing is done about a daemon that does not answer. */
    reap: (sessionId: string, seen: SeenExpired): Promise<Reaped | "not_mine" | "unreachable"> =>
      queue.run(sessionId, async () => {
        const session = await deps.db.session.findUnique({ where: { id: sessionId } })
        const held = session ? await own(session) : null
        if (!held) return "not_mine"
        if (!held.reader && (await recoverNow(sessionId)) === "undecided") return "unreachable"
        const live = owned.get(sessionId)
        // Asked now, not remembered: a stream that is open says nothing of a daemon that was stopped a moment ago.
        if (!live?.reader || !(await answers(live.reader.client, sessionId))) return "unreachable"
        const outcome = await reap(deps, live, live.reader.client, seen)
        if (outcome === "deleted") await discardNow(live)
        return outcome
      }),
    /** Once more what a reaper did not live to finish: the folder of a deleted executor into the daemon's trash. */
    discard: (sessionId: string) =>
      queue.run(sessionId, async () => {
        const session = await deps.db.session.findUnique({ where: { id: sessionId } })
        const live = session ? await own(session) : null
        if (live) await discardNow(live)
      }),

    /** Lets go without ending anything: agents go on, the next server adopts them. */
    async close() {
      closed = true
      slots.stop()
      unfollow()
      for (const live of owned.values()) if (live.retry) clearTimeout(live.retry)
      await Promise.allSettled([...owned.values()].map((live) => live.reader?.stop()))
      await queue.idle()
    },
  }
}
export type Coordinator = ReturnType<typeof createCoordinator>

const notOurs = () => new AppError("CONFLICT", "This session is on another server.", {})

const answers = (client: AgentctlClient, sessionId: string) =>
  client.session(sessionId).then(
    () => true,
    (error) => !(error instanceof DaemonUnreachable),
  )

import type { DaemonSession } from "../../lib/contracts/agentctl/protocol"
import type { InterruptionReason, SessionState } from "../../lib/contracts/status"
import type { Runtime } from "../../lib/contracts/task"
import { type AgentctlClient, DaemonRefused } from "../executors"
import { updateAny } from "../journal"
import type { ExecutionDeps, Live } from "./context"
import { closeOpenRun, handOverAgain } from "./deliver"
import { stillOwned } from "./ownership"
import { receipt } from "./receipt"
import { type LoadedSession, loadSession } from "./session-facts"
import type { Attach } from "./wake"

export type Reconciled = "adopted" | "interrupted" | "at_rest" | "undecided"

/**
 * Brings journal and daemon to one story about a session: finds or relaunches the daemon, reads the spool to its end, and only
 * then decides about an open run. `undecided` means the daemon lives and is silent, or cannot be reached: nothing was decided.
 */
export async function reconcile(deps: ExecutionDeps, live: Live, attach: Attach, cause: "boot" | "daemon_lost"): Promise<Reconciled> {
  const started = performance.now()
  const { id } = live.owned.ref
  const loaded = await loadSession(deps.db, id)
  if (!loaded) return "at_rest"
  if (loaded.session.spool_id === null) {
    await settleState(deps, live)
    return "at_rest"
  }

  const client = await findDaemon(deps, live, loaded)
  if (!client) return "undecided"
  let daemon: DaemonSession
  try {
    daemon = await client.session(id)
  } catch (error) {
    if (!(error instanceof DaemonRefused) || error.code !== "NOT_FOUND") throw error
    // The spool is gone with its disk: there is nothing left to read, and nothing carries the run.
    const interrupted = await interruptOpenRun(deps, live, "executor_lost")
    await settleState(deps, live)
    return interrupted ? "interrupted" : "at_rest"
  }
  const { reader } = await attach(live, client, daemon.spool_id)
  await reader.caughtUpTo(daemon.head)
  const outcome = await decideOpenRun(deps, live, client, cause)
  await noteExecutor(deps, live, client, daemon)
  await settleState(deps, live)
  // Nothing was running when the last server went: there is nothing to account for.
  const wasUp = loaded.executor.agent_execution_id !== null || loaded.session.open_run_id !== null
  if (cause === "boot" && wasUp) await writeReceipt(deps, live, client, performance.now() - started)
  return outcome
}

/** What was found, not what was hoped for: an agent that is gone has no memory until something gives it one. */
async function writeReceipt(deps: ExecutionDeps, live: Live, client: AgentctlClient, took: number): Promise<void> {
  const { id } = live.owned.ref
  const kept = (await client.session(id)).agent?.state === "ready"
  const event = await receipt(deps, id, {
    receipt_kind: "recover",
    level: kept ? "L4" : "L2",
    agent_memory: kept ? "kept" : "none",
    files: "kept",
    processes: [{ what: "agent", outcome: kept ? "kept" : "ended" }],
    took_ms: Math.round(took),
    attempts: [{ strategy: "adopt", outcome: kept ? "ok" : "agent_gone" }],
  })
  await deps.journal.commit({ session: live.owned.ref, guards: [stillOwned(live.owned)], events: [event] })
}

async function findDaemon(deps: ExecutionDeps, live: Live, { executor }: LoadedSession): Promise<AgentctlClient | null> {
  const runtime = deps.executors[executor.runtime as Runtime]
  const found = await runtime.probe(executor)
  live.silent = found.kind === "unknown"
  if (found.kind === "alive") return found.client
  if (found.kind === "unknown") return null
  return runtime.launch(executor)
}

async function decideOpenRun(deps: ExecutionDeps, live: Live, client: AgentctlClient, cause: "boot" | "daemon_lost"): Promise<Reconciled> {
  const { id } = live.owned.ref
  const loaded = await loadSession(deps.db, id)
  const run_id = loaded?.session.open_run_id
  if (!loaded || !run_id) return "at_rest"
  const daemon = await client.session(id)

  if (daemon.run?.run_id === run_id) {
    if (loaded.session.run_boot_id !== deps.boot_id) {
      await deps.journal.commit({
        session: live.owned.ref,
        guards: [stillOwned(live.owned)],
        events: [{ kind: "run.adopted", run_id, boot_id: deps.boot_id }],
      })
    }
    return "adopted"
  }

  const prompt = loaded.runPrompt
  const unheard =
    prompt?.state === "delivering" && prompt.spool_id === daemon.spool_id && daemon.agent?.state === "ready" && daemon.run === null
  if (unheard && (await handOverAgain(deps, live, client, loaded)) === "accepted") return "adopted"
  const worked = await showsWork(deps, id, loaded.session.run_first_seq)
  await interruptOpenRun(deps, live, !worked ? "delivery_uncertain" : cause === "boot" ? "process_restart" : "executor_lost")
  return "interrupted"
}

async function interruptOpenRun(deps: ExecutionDeps, live: Live, reason: InterruptionReason): Promise<boolean> {
  const loaded = await loadSession(deps.db, live.owned.ref.id)
  const run_id = loaded?.session.open_run_id
  if (!run_id) return false
  await closeOpenRun(deps, live, { kind: "run.interrupted", run_id, reason })
  return true
}

const WORK = ["message.delta", "message.agent", "message.thought", "tool.call", "plan.updated", "run.waiting"]
async function showsWork(deps: ExecutionDeps, sessionId: string, firstSeq: number | null): Promise<boolean> {
  if (firstSeq === null) return false
  const sign = await deps.db.sessionEvent.findFirst({
    where: { session_id: sessionId, seq: { gt: firstSeq }, kind: { in: WORK } },
    select: { seq: true },
  })
  return sign !== null
}

async function noteExecutor(deps: ExecutionDeps, live: Live, client: AgentctlClient, daemon: DaemonSession): Promise<void> {
  const loaded = await loadSession(deps.db, live.owned.ref.id)
  if (!loaded) return
  const { executor } = loaded
  const seen = updateAny(
    "executors_running",
    { id: executor.id },
    { last_seen_at: deps.clock.now().toISOString(), agentctl_url: client.endpoint.url },
  )
  const changed = executor.status !== "ready" || executor.agentctl_instance_id !== client.endpoint.instance_id
  await deps.journal.commit({
    session: live.owned.ref,
    guards: [stillOwned(live.owned)],
    rows: [seen],
    events: changed
      ? [
          {
            kind: "executor.ready",
            executor_id: executor.id,
            agentctl_instance_id: client.endpoint.instance_id,
            worktree_path: daemon.workspace_path,
            worktree_branch: daemon.worktree_branch,
          },
        ]
      : [],
  })
}

/** No session stays STARTING or RUNNING when nothing runs: every later message would be answered "busy". */
async function settleState(deps: ExecutionDeps, live: Live): Promise<void> {
  const loaded = await loadSession(deps.db, live.owned.ref.id)
  if (!loaded || loaded.session.open_run_id) return
  const state = loaded.session.state as SessionState
  if (state !== "STARTING" && state !== "RUNNING" && !(state === "ERROR" && loaded.executor.status === "ready")) return
  await deps.journal.commit({
    session: live.owned.ref,
    guards: [stillOwned(live.owned)],
    events: [{ kind: "session.state_changed", from: state, to: "WAITING_FOR_INPUT", cause: "reconciled" }],
  })
}

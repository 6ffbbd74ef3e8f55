import { ZodError } from "zod"
import type { DaemonSession } from "../../lib/contracts/agentctl/protocol"
import type { InterruptionReason, SessionState } from "../../lib/contracts/status"
import type { Runtime } from "../../lib/contracts/task"
import { killPoint } from "../../lib/host/kill-point"
import { type AgentctlClient, DaemonRefused } from "../executors"
import { parseRow, StoreRefused, updateAny } from "../journal"
import type { ExecutionDeps, Live } from "./context"
import { closeOpenRun, handOverAgain } from "./deliver"
import { dismissForgetful } from "./forgotten"
import { hasEnded } from "./ingest"
import { foundRun } from "./interpret"
import { NOTHING_OPEN } from "./open-items"
import { stillOwned } from "./ownership"
import { receipt } from "./receipt"
import { unpackedBefore } from "./restore-files"
import { type LoadedSession, loadSession, toFacts } from "./session-facts"
import { tellWorkspace } from "./tell-workspace"
import { type ReceiptProcess, settleTerminals } from "./terminals"
import type { Attach } from "./wake"

/** `adopted`: the same agent goes on, at work or at rest. */
export type Reconciled = "adopted" | "interrupted" | "at_rest" | "undecided"

/**
 * Brings journal and daemon to one story about a session: finds or relaunches the daemon, reads the spool to its end, and only
 * then decides about an open run. `undecided` means the daemon lives and is silent, or cannot be reached: nothing was decided.
 */
export async function reconcile(deps: ExecutionDeps, live: Live, attach: Attach): Promise<Reconciled> {
  const started = performance.now()
  const { id } = live.owned.ref
  const loaded = await loadSession(deps.db, id)
  if (!loaded || loaded.executor.status === "deleted") return "at_rest"
  // Nothing runs in a place whose files are still in their archive. What a daemon has of it may be half unpacked: called ready
  // now, the archive would be forgotten. Waking begins with the archive.
  if (loaded.session.spool_id === null || loaded.executor.restore_archive_id !== null) {
    const { status, error_code } = loaded.executor
    if (status !== "error" || error_code !== "unreachable") await settleState(deps, live)
    else if (!(await isReachableAgain(deps, live, loaded))) return "undecided"
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
  // A person gave up what runs there: it ends before its output is read, so that nothing of it goes on.
  if ((daemon.generation ?? loaded.executor.generation) < loaded.executor.generation)
    daemon = await client.putGeneration(id, live.owned.epoch, loaded.executor.generation)
  if ((daemon.generation ?? 0) > loaded.executor.generation) await learnGeneration(deps, live, daemon)
  daemon = await tellWorkspace(deps, live, loaded, client, daemon)
  const { reader } = await attach(live, client, daemon.spool_id)
  await reader.caughtUpTo(daemon.head)
  killPoint("reconcile.spool_read")
  // The daemon may have an agent the journal never heard of: the last server died before it had read of its start.
  const wasUp = loaded.executor.agent_execution_id !== null || loaded.session.open_run_id !== null || daemon.agent?.state === "ready"
  if (await dismissForgetful(deps, live, client, daemon, loaded.session.agent)) {
    daemon = await client.session(id)
    await reader.caughtUpTo(daemon.head)
  }
  const outcome = await decideOpenRun(deps, live, client, daemon)
  // Before the executor is called ready: a tab opened in that moment would get its new shell, and what ended with the old one be forgotten.
  const terminals = await settleTerminals(deps, live, client, daemon.workspace_path)
  // Nothing was running when the last server went: there is nothing to account for.
  if ((!live.accounted && (wasUp || terminals.kept.length > 0)) || terminals.ended.length > 0) {
    await writeReceipt(deps, live, client, loaded, { wasUp, processes: [...terminals.kept, ...terminals.ended], started })
  }
  live.accounted = true
  await noteExecutor(deps, live, loaded, client, daemon)
  await settleState(deps, live)
  return outcome === "at_rest" && daemon.agent?.state === "ready" ? "adopted" : outcome
}

/**
 * A daemon that did not answer when the session's first start, or its restore, needed it. Nothing runs there that could be adopted:
 * the session is at rest again, and whoever asked for the start may have it.
 */
async function isReachableAgain(deps: ExecutionDeps, live: Live, { executor }: LoadedSession): Promise<boolean> {
  const found = await deps.executors[executor.runtime as Runtime].probe(executor)
  live.silent = found.kind === "unknown"
  if (live.silent) return false
  const loaded = await loadSession(deps.db, live.owned.ref.id)
  const state = loaded?.session.state as SessionState | undefined
  await deps.journal.commit({
    session: live.owned.ref,
    guards: [stillOwned(live.owned)],
    events: [
      { kind: "executor.stopped", executor_id: executor.id, reason: "reachable_again" },
      ...(state === "ERROR" ? [{ kind: "session.state_changed", from: state, to: "WAITING_FOR_INPUT", cause: "reconciled" } as const] : []),
    ],
  })
  return true
}

/** Only a restored backup knows less than the daemon; the calls to it would be refused for ever. */
const learnGeneration = (deps: ExecutionDeps, live: Live, { generation }: DaemonSession) =>
  deps.journal.commit({
    session: live.owned.ref,
    guards: [stillOwned(live.owned)],
    rows: [updateAny("executors_running", { session_id: live.owned.ref.id }, { generation: generation ?? 1 })],
    events: [],
  })

/** What was found, not what was hoped for: an agent that is gone has no memory until something gives it one. */
async function writeReceipt(
  deps: ExecutionDeps,
  live: Live,
  client: AgentctlClient,
  { executor }: LoadedSession,
  found: { wasUp: boolean; processes: ReceiptProcess[]; started: number },
): Promise<void> {
  const { id } = live.owned.ref
  const kept = (await client.session(id)).agent?.state === "ready"
  // Its server ended between the start of its agent and the receipt of the restore: this is that receipt.
  const unpacked = kept ? await unpackedBefore(deps, executor) : null
  const event = await receipt(deps, id, {
    receipt_kind: unpacked ? "restore" : "recover",
    level: kept ? "L4" : "L2",
    agent_memory: unpacked ? await memoryOfNewest(deps, id) : kept ? "kept" : "none",
    files: unpacked ?? "kept",
    processes: [...(found.wasUp || kept ? [{ what: "agent", outcome: kept ? "kept" : "ended" } as const] : []), ...found.processes],
    took_ms: Math.round(performance.now() - found.started),
    attempts: [{ strategy: "adopt", outcome: kept ? "ok" : "agent_gone" }],
  })
  await deps.journal.commit({ session: live.owned.ref, guards: [stillOwned(live.owned)], events: [event] })
}

/** How the agent that runs now came by its memory. */
async function memoryOfNewest({ db }: ExecutionDeps, session_id: string): Promise<"native" | "injected" | "none"> {
  const row = await db.sessionEvent.findFirst({ where: { session_id, kind: "agent.started" }, orderBy: { seq: "desc" } })
  const started = row && parseRow(row)
  if (started?.kind !== "agent.started") return "none"
  const { strategy } = started
  return strategy === "loaded" || strategy === "resumed" ? "native" : strategy === "injected" ? "injected" : "none"
}

async function findDaemon(deps: ExecutionDeps, live: Live, { executor }: LoadedSession): Promise<AgentctlClient | null> {
  const runtime = deps.executors[executor.runtime as Runtime]
  const found = await runtime.probe(executor)
  live.silent = found.kind === "unknown"
  if (found.kind === "alive") return found.client
  if (found.kind === "unknown") return null
  return runtime.launch(executor)
}

/** `daemon` is how it stood before its spool was read that far: a run ended since then would otherwise look like one that nothing carries. */
async function decideOpenRun(deps: ExecutionDeps, live: Live, client: AgentctlClient, daemon: DaemonSession): Promise<Reconciled> {
  const { id } = live.owned.ref
  const loaded = await loadSession(deps.db, id)
  const run_id = loaded?.session.open_run_id
  if (!loaded) return "at_rest"
  if (!run_id) return daemon.run ? adoptUnknownRun(deps, live, loaded, daemon, daemon.run) : "at_rest"

  if (daemon.run?.run_id === run_id) {
    if (asksInVain(loaded, daemon)) {
      await interruptOpenRun(deps, live, "token_invalid")
      await client.cancel(id, live.owned.epoch, run_id)
      return "interrupted"
    }
    if (loaded.session.run_boot_id !== deps.boot_id) {
      await deps.journal.commit({
        session: live.owned.ref,
        guards: [stillOwned(live.owned)],
        events: [{ kind: "run.adopted", run_id, boot_id: deps.boot_id }],
      })
      killPoint("adopt.committed")
    }
    return "adopted"
  }

  const prompt = loaded.runPrompt
  const unheard =
    prompt?.state === "delivering" && prompt.spool_id === daemon.spool_id && daemon.agent?.state === "ready" && daemon.run === null
  if (unheard && (await handOverAgain(deps, live, client, loaded)) === "accepted") return "adopted"
  const worked = await showsWork(deps, id, loaded.session.run_first_seq)
  // By whose run it is, not by who asks: after a restart the first try may fail, and a later one finds the same night.
  const lost = loaded.session.run_boot_id === deps.boot_id ? "executor_lost" : "process_restart"
  await interruptOpenRun(deps, live, worked ? lost : "delivery_uncertain")
  return "interrupted"
}

/** The agent waits for an answer that nobody can give: its question was taken back when a backup was restored. */
const asksInVain = ({ session, tokens }: LoadedSession, daemon: DaemonSession) =>
  session.open_waits > 0 &&
  daemon.pending_permissions.length > 0 &&
  session.cancel_requested === 0 &&
  tokens.every((token) => token.state === "revoked")

/** The daemon works on a run whose beginning was cut from its spool, in a life this journal does not know. */
async function adoptUnknownRun(
  deps: ExecutionDeps,
  live: Live,
  loaded: LoadedSession,
  { spool_id }: DaemonSession,
  run: NonNullable<DaemonSession["run"]>,
): Promise<Reconciled> {
  if (await hasEnded(deps.db, run.run_id)) return "at_rest"
  const found = { prompt: null, boot_id: deps.boot_id, spool_id }
  await deps.journal.commit({
    session: live.owned.ref,
    guards: [stillOwned(live.owned)],
    events: foundRun({ ...run, body_sha256: "" }, found, toFacts(loaded), NOTHING_OPEN),
  })
  return "adopted"
}

async function interruptOpenRun(deps: ExecutionDeps, live: Live, reason: InterruptionReason): Promise<boolean> {
  const loaded = await loadSession(deps.db, live.owned.ref.id)
  const run_id = loaded?.session.open_run_id
  if (!run_id) return false
  await closeOpenRun(deps, live, { kind: "run.interrupted", run_id, reason })
  killPoint("interrupt.committed")
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

async function noteExecutor(
  deps: ExecutionDeps,
  live: Live,
  { executor }: LoadedSession,
  client: AgentctlClient,
  daemon: DaemonSession,
): Promise<void> {
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
  if (!loaded) return
  const state = loaded.session.state as SessionState
  const to = settledState(state, { running: loaded.session.open_run_id !== null, ready: loaded.executor.status === "ready" })
  if (to === state) return
  await deps.journal.commit({
    session: live.owned.ref,
    guards: [stillOwned(live.owned)],
    events: [{ kind: "session.state_changed", from: state, to, cause: "reconciled" }],
  })
}

function settledState(state: SessionState, now: { running: boolean; ready: boolean }): SessionState {
  if (now.running) return state === "ERROR" ? "RUNNING" : state
  return state === "STARTING" || state === "RUNNING" || (state === "ERROR" && now.ready) ? "WAITING_FOR_INPUT" : state
}

/** What is known of the session cannot be read, or not be written: the daemon is not to blame, and waiting alone does not mend it. */
const isDamage = (error: unknown) =>
  [SyntaxError, TypeError, RangeError, ZodError, StoreRefused].some((kind) => error instanceof kind) ||
  (error instanceof DaemonRefused && error.code === "INTERNAL")

/** Reconciling failed: said of the session, until a later try succeeds. */
export const markFailed = (deps: ExecutionDeps, live: Live, error: unknown): Promise<void> =>
  isDamage(error) ? markUnreconciled(deps, live, error) : markUnreachable(deps, live, error)

/** The run stays open: an unreachable daemon may still be carrying it. */
async function markUnreachable(deps: ExecutionDeps, live: Live, error: unknown): Promise<void> {
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

/** A session nobody can bring to one story must not look as if it were at work: it says so, and can be retried or abandoned. */
async function markUnreconciled(deps: ExecutionDeps, live: Live, error: unknown): Promise<void> {
  const loaded = await loadSession(deps.db, live.owned.ref.id)
  if (!loaded || loaded.executor.error_code === NOT_RECONCILED) return
  const { executor, session } = loaded
  const why = error instanceof Error ? error.message : String(error)
  const message = `What is recorded of this session could not be read or written: ${why.slice(0, 500)}`
  await deps.journal.commit({
    session: live.owned.ref,
    guards: [stillOwned(live.owned)],
    events: [
      { kind: "executor.error", executor_id: executor.id, reason: NOT_RECONCILED, message },
      ...(session.state === "ERROR"
        ? []
        : [{ kind: "session.state_changed", from: session.state as SessionState, to: "ERROR", cause: NOT_RECONCILED } as const]),
    ],
  })
}
export const NOT_RECONCILED = "not_reconciled"

import type { Runtime } from "../../lib/contracts/task"
import { killPoint } from "../../lib/host/kill-point"
import { ArchiveError, packToStore } from "../archive"
import type { AgentctlClient } from "../executors"
import { guard, insert, isConflict, update, updateAny } from "../journal"
import { ids } from "../platform/ids"
import type { ExecutionDeps, Live } from "./context"
import { stillOwned } from "./ownership"
import { agentMemoryOf, type LoadedSession, loadSession } from "./session-facts"
import { keptByTerminal, noteConversations } from "./terminals"

/** A failed archive is tried again after a minute, then ever more rarely, up to an hour. */
const FIRST_RETRY_MS = 60_000
const LAST_RETRY_MS = 3_600_000
/** How often a person who wants the task back is noticed while its files are being packed. */
const LOOK_MS = 500

export type Reaped = "deleted" | "failed" | "taken_back" | "not_due"

/** What the caller saw when it judged the session expired; anything that happened since then loses the first commit. */
export type SeenExpired = { active_at: string | null; task_active_at: string; force: boolean }

/**
 * Puts an expired executor away: stop, archive, verify, and only then delete, each step a compare-and-set. Until the archive is
 * verified nothing is lost by dying here; a person may take it back at any moment by raising the generation.
 */
export async function reap(deps: ExecutionDeps, live: Live, client: AgentctlClient, seen: SeenExpired): Promise<Reaped> {
  const { ref, epoch } = live.owned
  const loaded = await loadSession(deps.db, ref.id)
  if (!loaded || (await keptByTerminal(deps, live, client))) return "not_due"
  const { executor } = loaded
  const mine = [stillOwned(live.owned), guard("executors_running", { id: executor.id, generation: executor.generation })]
  try {
    await deps.journal.commit({
      session: ref,
      guards: [
        ...mine,
        guard("sessions", { id: ref.id, open_run_id: null, active_at: seen.active_at }),
        guard("tasks", { id: ref.task_id, last_activity_at: seen.task_active_at }),
      ],
      events: [{ kind: "executor.reaping", executor_id: executor.id }],
    })
  } catch (error) {
    if (isConflict(error)) return "not_due"
    throw error
  }

  killPoint("reap.claimed")
  const archive_id = ids.archive()
  try {
    await client.stopAgent(ref.id, epoch)
    killPoint("reap.stopped")
    await live.reader?.caughtUpTo((await client.session(ref.id)).head)
    await noteConversations(deps, live, client)
    const archive = await packAndVerify(deps, live, client, loaded, archive_id)
    killPoint("reap.packed")
    const { location, sha256, bytes, files, left_out } = archive
    await deps.journal.commit({
      session: ref,
      guards: mine,
      rows: [
        insert("archives", {
          ...{ id: archive_id, session_id: ref.id, task_id: ref.task_id, state: "ready" },
          ...{ location, sha256, bytes, files, created_at: deps.clock.now().toISOString() },
        }),
        update("executors_running", { id: executor.id }, { reap_failures: 0, reap_after: null, trashed_at: null }),
      ],
      events: [
        { kind: "archive.created", archive_id, sha256, bytes, files, ...(left_out && { left_out }) },
        { kind: "executor.deleted", executor_id: executor.id, archive_id },
      ],
    })
    return "deleted"
  } catch (error) {
    // Somebody wanted it back, or another server has it: the archive that was made is nobody's, and is swept from the store.
    if (isConflict(error) || (error instanceof ArchiveError && error.reason === "aborted")) return "taken_back"
    return keepExecutor(deps, live, loaded, archive_id, error, seen.force)
  }
}

async function packAndVerify(deps: ExecutionDeps, live: Live, client: AgentctlClient, loaded: LoadedSession, archive_id: string) {
  const { executor } = loaded
  const { ref, epoch } = live.owned
  const { agent_files, agent_exports } = await agentMemoryOf(deps, loaded)
  const takenBack = new AbortController()
  const look = setInterval(async () => {
    const row = await deps.db.executorRunning.findUnique({ where: { id: executor.id }, select: { generation: true } }).catch(() => null)
    if (row && row.generation !== executor.generation) takenBack.abort()
  }, LOOK_MS)
  try {
    const packed = await packToStore({
      daemon: client,
      store: deps.archives.store,
      session_id: ref.id,
      epoch,
      archive_id,
      generation: executor.generation,
      agent_session_id: executor.resume_token,
      agent_files,
      agent_exports,
      max_bytes: deps.archives.max_bytes,
      signal: takenBack.signal,
    })
    await deps.archives.store.verify(packed)
    return packed
  } finally {
    clearInterval(look)
  }
}

/** The executor stays, and the reason is told. Only an admin's standing order lets it go without an archive. */
async function keepExecutor(
  deps: ExecutionDeps,
  live: Live,
  { executor }: LoadedSession,
  archive_id: string,
  error: unknown,
  force: boolean,
): Promise<Reaped> {
  const reason = error instanceof ArchiveError ? error.reason : "internal"
  const message = error instanceof Error ? error.message : String(error)
  deps.logger.warn({ session: live.owned.ref.id, reason, force, err: error }, "an expired executor could not be archived")
  const now = deps.clock.now()
  const wait = Math.min(FIRST_RETRY_MS * 2 ** executor.reap_failures, LAST_RETRY_MS)
  const { ref } = live.owned
  try {
    await deps.journal.commit({
      session: ref,
      guards: [stillOwned(live.owned), guard("executors_running", { id: executor.id, generation: executor.generation, status: "reaping" })],
      rows: [
        insert("archives", {
          ...{ id: archive_id, session_id: ref.id, task_id: ref.task_id, state: "failed", created_at: now.toISOString() },
          error: `${reason}: ${message}`,
        }),
        update(
          "executors_running",
          { id: executor.id },
          { reap_failures: { inc: 1 }, reap_after: new Date(now.getTime() + wait).toISOString() },
        ),
      ],
      events: [
        { kind: "archive.failed", archive_id, reason, message },
        ...(force
          ? ([
              { kind: "executor.reaping", executor_id: executor.id },
              { kind: "executor.deleted", executor_id: executor.id, archive_id: null },
            ] as const)
          : []),
      ],
    })
  } catch (refusal) {
    if (isConflict(refusal)) return "taken_back"
    throw refusal
  }
  return force ? "deleted" : "failed"
}

/** The folder of a deleted executor into the daemon's trash. The daemon compares generations: what a person has taken back meanwhile stays. */
export async function discard(deps: ExecutionDeps, live: Live): Promise<boolean> {
  const { id } = live.owned.ref
  const loaded = await loadSession(deps.db, id)
  if (loaded?.executor.status !== "deleted") return false
  const { executor } = loaded
  const client = live.reader?.client ?? (await deps.executors[executor.runtime as Runtime].launch(executor))
  await live.reader?.stop()
  live.reader = null
  killPoint("reap.deleted")
  await client.removeSession(id, live.owned.epoch, executor.generation)
  killPoint("reap.discarded")
  await deps.journal.write([
    updateAny(
      "executors_running",
      { id: executor.id, status: "deleted", generation: executor.generation },
      { trashed_at: deps.clock.now().toISOString() },
    ),
  ])
  return true
}

import { z } from "zod"
import type { GitCredential, WorkspaceSpec } from "../../lib/contracts/agentctl/protocol"
import type { NewEvent, ReceiptFiles } from "../../lib/contracts/events"
import { LeftOut } from "../../lib/contracts/left-out"
import type { Runtime } from "../../lib/contracts/task"
import { killPoint } from "../../lib/host/kill-point"
import { ArchiveError, restoreFromStore } from "../archive"
import { type AgentctlClient, LaunchFailed } from "../executors"
import { readColumn } from "../platform/columns"
import type { ExecutorRunning } from "../platform/database"
import type { ExecutionDeps, Live } from "./context"
import { agentMemoryOf, type LoadedSession } from "./session-facts"

/**
 * Unpacks the archive a restore asked for, verified before anything is started in it. A failure leaves the session where it was,
 * its message still queued: an empty folder is never passed off as the old one.
 */
export async function restoreFiles(
  deps: ExecutionDeps,
  live: Live,
  { session, executor }: LoadedSession,
  client: AgentctlClient,
  { workspace, git_credential }: { workspace: WorkspaceSpec; git_credential: GitCredential | undefined },
  commit: (events: NewEvent[]) => Promise<unknown>,
): Promise<ReceiptFiles | null> {
  const archive_id = executor.restore_archive_id
  if (archive_id === null) return null
  const { ref, epoch } = live.owned
  const archive = await deps.db.archive.findFirst({ where: { id: archive_id, session_id: session.id } })
  if (!archive?.location || !archive.sha256 || archive.bytes === null)
    throw new LaunchFailed("archive_missing", "The archive of this task is not known any more.")
  const { location, sha256, bytes } = archive
  const { agent_files, agent_imports } = await agentMemoryOf(deps, { session, executor })
  const gone = watchForEnd(deps, executor, client)
  try {
    const restored = await restoreFromStore({
      daemon: client,
      store: deps.archives.store,
      session_id: ref.id,
      epoch,
      archive_id,
      generation: executor.generation,
      archive: { location, sha256, bytes },
      workspace,
      git_credential,
      agent_files,
      agent_imports,
      max_bytes: deps.archives.max_bytes,
      signal: gone.signal,
      progress({ state, ...amounts }) {
        if (state !== "downloading" && state !== "unpacking" && state !== "verifying") return
        live.restoring = { task_id: ref.task_id, session_id: ref.id, phase: state, ...amounts }
        deps.onRestoreProgress(ref.user_id, live.restoring)
      },
    })
    killPoint("restore.unpacked")
    const { files, notes, left_out } = restored
    const told = left_out ? { left_out } : {}
    // Unpacked before, and cut short after it was told: the same call has found it done.
    if (unpackedOf(executor)?.archive_id !== archive_id)
      await commit([{ kind: "archive.restored", archive_id, bytes: restored.bytes, files, notes, ...told }])
    killPoint("restore.told")
    return { archive: { sha256, bytes, files, ...told } }
  } catch (error) {
    if (!(error instanceof ArchiveError)) throw error
    // The folder was never taken away: what lies there is at least as new as the archive, and stays.
    if (error.reason === "workspace_exists") return "kept"
    const lost = error.reason === "daemon_unreachable" || gone.signal.aborted
    throw new LaunchFailed(lost ? "unreachable" : error.reason, error.message, { cause: error })
  } finally {
    gone.stop()
    live.restoring = null
  }
}

const LOOK_MS = 500

/** A daemon that has ended never answers again; the calls to it would be repeated for a long time. */
function watchForEnd({ executors }: ExecutionDeps, executor: ExecutorRunning, { endpoint }: AgentctlClient) {
  const ended = new AbortController()
  const look = setInterval(async () => {
    const found = await executors[executor.runtime as Runtime].probe(executor).catch(() => null)
    const replaced = found?.kind === "alive" && found.client.endpoint.instance_id !== endpoint.instance_id
    if (found?.kind === "dead" || replaced) ended.abort()
  }, LOOK_MS)
  return { signal: ended.signal, stop: () => clearInterval(look) }
}

const Unpacked = z.object({ archive_id: z.string(), bytes: z.number(), files: z.number(), left_out: LeftOut.optional() })
const unpackedOf = ({ id, unpacked }: ExecutorRunning) => readColumn(`executors_running.unpacked ${id}`, unpacked, Unpacked, null)

/** Files that came out of their archive and are in no receipt yet, because whoever unpacked them did not live to write it. */
export async function unpackedBefore({ db }: ExecutionDeps, executor: ExecutorRunning): Promise<ReceiptFiles | null> {
  const unpacked = unpackedOf(executor)
  const archive = unpacked && (await db.archive.findUnique({ where: { id: unpacked.archive_id } }))
  if (!unpacked || !archive?.sha256 || archive.bytes === null) return null
  const { files, left_out } = unpacked
  return { archive: { sha256: archive.sha256, bytes: archive.bytes, files, ...(left_out ? { left_out } : {}) } }
}

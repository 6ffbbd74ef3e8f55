import type { AgentFile, CarriedConversation, PutRestore } from "../../lib/contracts/agentctl/archive"
import type { LeftOut } from "../../lib/contracts/left-out"
import { ArchiveError, fromDaemonCode } from "./archive-error"
import type { ArchiveStore, StoredArchive } from "./archive-store"
import { type ArchiveDaemon, asArchiveError, type Progress, untilOver } from "./drive-daemon"

/** A store that keeps refusing URLs it has just signed is not asked for ever; each renewal goes on where the last one stopped. */
const RENEWALS = 100
const RENEWALS_WITHOUT_PROGRESS = 3

export type RestoreOptions = {
  daemon: ArchiveDaemon
  store: ArchiveStore
  session_id: string
  epoch: number
  archive_id: string
  generation: number
  archive: StoredArchive
  workspace: PutRestore["workspace"]
  git_credential?: PutRestore["git_credential"]
  agent_files: AgentFile[]
  agent_imports: CarriedConversation[]
  max_bytes: number
  progress?: (progress: Progress) => void
  signal?: AbortSignal
}

export type RestoredArchive = { files: number; bytes: number; agent_session_id: string | null; notes: string[]; left_out: LeftOut | null }

/**
 * Brings a workspace back. Repeating it with the same `archive_id`, also after a kill of either side, goes on or finds it done;
 * it is never unpacked over a living workspace. Throws ArchiveError; then nothing is at the workspace's place.
 */
export async function restoreFromStore(options: RestoreOptions): Promise<RestoredArchive> {
  const { daemon, store, session_id, epoch, archive_id, generation, archive, workspace, agent_files, agent_imports, max_bytes } = options
  const { git_credential } = options
  try {
    let reached = 0
    for (let renewals = 0, idle = 0; renewals < RENEWALS && idle < RENEWALS_WITHOUT_PROGRESS; renewals++) {
      const source = await store.source(archive.location)
      const { sha256, bytes } = archive
      const body: PutRestore = { generation, workspace, source, sha256, bytes, agent_files, agent_imports, max_bytes, git_credential }
      const state = await untilOver(
        () => daemon.putRestore(session_id, epoch, archive_id, body),
        () => daemon.restore(session_id, archive_id),
        ({ state }) => state === "restored" || state === "failed" || state === "needs_url",
        options,
      )
      if (state.state === "restored") {
        const { files, bytes, agent_session_id, notes, left_out } = state
        return { files, bytes, agent_session_id, notes, left_out }
      }
      if (state.state === "failed")
        throw fromDaemonCode(state.error?.code ?? "INTERNAL", state.error?.message ?? "agentctl gave no reason.")
      idle = state.bytes > reached ? 0 : idle + 1
      reached = state.bytes
    }
    throw new ArchiveError("store_unreachable", "The store refuses the URLs it is asked with.")
  } catch (error) {
    throw asArchiveError(error)
  }
}

import type { AgentFile, ArchiveState, CarriedConversation } from "../../lib/contracts/agentctl/archive"
import type { LeftOut } from "../../lib/contracts/left-out"
import { ArchiveError, fromDaemonCode } from "./archive-error"
import type { ArchiveStore } from "./archive-store"
import { type ArchiveDaemon, asArchiveError, type Progress, persistently, untilOver } from "./drive-daemon"
import { locationOf } from "./folder-store"

/** A workspace somebody is typing in: after so many tries it is left for later. */
const CHANGING_TRIES = 3

export type PackOptions = {
  daemon: ArchiveDaemon
  store: ArchiveStore
  session_id: string
  epoch: number
  archive_id: string
  generation: number
  agent_session_id: string | null
  agent_files: AgentFile[]
  agent_exports: CarriedConversation[]
  max_bytes: number
  progress?: (progress: Progress) => void
  signal?: AbortSignal
}

export type PackedArchive = {
  location: string
  sha256: string
  bytes: number
  files: number
  content_bytes: number
  /** Null: an earlier daemon does not tell. */
  left_out: LeftOut | null
}

/**
 * Has the daemon pack the workspace and brings the archive into the store. Repeating it with the same `archive_id`, also after
 * a kill of either side, goes on or finds it done. Throws ArchiveError; then the executor is to be kept.
 */
export async function packToStore(options: PackOptions): Promise<PackedArchive> {
  const { store } = options
  try {
    const state = await pack(options)
    const { sha256, archive_bytes, path, files, bytes: content_bytes, left_out } = state
    if (sha256 === null || archive_bytes === null || path === null) throw new ArchiveError("internal", "agentctl packed without a result.")
    const location = store.folder ? locationOf(path) : await upload(options, state)
    return { location, sha256, bytes: archive_bytes, files, content_bytes, left_out }
  } catch (error) {
    throw asArchiveError(error)
  }
}

async function pack(options: PackOptions): Promise<ArchiveState> {
  const { daemon, store, session_id, epoch, archive_id, generation, agent_session_id, agent_files, agent_exports, max_bytes } = options
  const body = { generation, agent_session_id, agent_files, agent_exports, max_bytes, folder: store.folder }
  for (let tries = 1; ; tries++) {
    const state = await untilOver(
      () => daemon.putArchive(session_id, epoch, archive_id, body),
      () => daemon.archive(session_id, archive_id),
      ({ state }) => state !== "packing",
      options,
    )
    if (state.state === "packed") return state
    const { code, message } = state.error ?? { code: "INTERNAL" as const, message: "agentctl gave no reason." }
    if (code !== "FILE_CHANGED" || tries >= CHANGING_TRIES) throw fromDaemonCode(code, message)
  }
}

async function upload(options: PackOptions, state: ArchiveState): Promise<string> {
  const { daemon, store, session_id, epoch, archive_id, progress, signal } = options
  const { sha256, archive_bytes, files, compression } = state as ArchiveState & { sha256: string; archive_bytes: number }
  let sent = 0
  const location = await store.upload({
    archive_id,
    suffix: compression === "gzip" ? ".tar.gz" : ".tar.zst",
    ...{ sha256, bytes: archive_bytes, files },
    async send(parts) {
      const answer = await persistently(() => daemon.putArchiveParts(session_id, epoch, archive_id, { parts }), signal)
      sent += parts.reduce((sum, { length }) => sum + length, 0)
      progress?.({ state: "uploading", bytes: sent, total_bytes: archive_bytes, files, total_files: files })
      return answer.parts
    },
  })
  // Only a copy by now, and the daemon clears its staging folder by itself one day.
  await daemon.dropArchive(session_id, epoch, archive_id).catch(() => undefined)
  return location
}

import { setTimeout as delay } from "node:timers/promises"
import type { ArchiveState, PutArchive, PutParts, PutRestore, RestoreState, UploadedPart } from "../../lib/contracts/agentctl/archive"
import { ArchiveError, fromDaemonCode, refusalOf } from "./archive-error"

/** What this module asks of a daemon; the executors' client has all of it. */
export interface ArchiveDaemon {
  putArchive(id: string, epoch: number, archiveId: string, body: PutArchive): Promise<ArchiveState>
  archive(id: string, archiveId: string): Promise<ArchiveState>
  putArchiveParts(id: string, epoch: number, archiveId: string, body: PutParts): Promise<{ parts: UploadedPart[] }>
  dropArchive(id: string, epoch: number, archiveId: string): Promise<unknown>
  putRestore(id: string, epoch: number, archiveId: string, body: PutRestore): Promise<RestoreState>
  restore(id: string, archiveId: string): Promise<RestoreState>
}

export type Progress = {
  state: ArchiveState["state"] | RestoreState["state"] | "uploading"
  bytes: number
  total_bytes: number
  files: number
  total_files: number
}

const POLL_MS = 100
/** A daemon that is silent for all of these is given up for now; the same call finds the work where it stopped. */
const SILENT_TRIES = 6
const FIRST_BACK_OFF_MS = 250

/** Repeats a call that got no answer. A refusal is an answer. */
export async function persistently<T>(call: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  for (let tries = 1; ; tries++) {
    signal?.throwIfAborted()
    try {
      return await call()
    } catch (error) {
      if (refusalOf(error)) throw error
      if (tries >= SILENT_TRIES) throw new ArchiveError("daemon_unreachable", "agentctl did not answer.", { cause: error })
      await delay(FIRST_BACK_OFF_MS * 2 ** (tries - 1), undefined, signal ? { signal } : {})
    }
  }
}

/**
 * Begins work by `put` and looks until `over`. A daemon that does not know of it any more was restarted: it is told again, and
 * starts over or finds it done.
 */
export async function untilOver<S extends Progress>(
  put: () => Promise<S>,
  get: () => Promise<S>,
  over: (state: S) => boolean,
  options: { progress?: (progress: Progress) => void; signal?: AbortSignal },
): Promise<S> {
  const { progress, signal } = options
  let state = await persistently(put, signal)
  while (!over(state)) {
    progress?.(state)
    await delay(POLL_MS, undefined, signal ? { signal } : {})
    state = await persistently(get, signal).catch((error) => {
      if (refusalOf(error) === "NOT_FOUND") return persistently(put, signal)
      throw error
    })
  }
  progress?.(state)
  return state
}

/** Whatever went wrong, as one of the reasons. */
export function asArchiveError(error: unknown): ArchiveError {
  if (error instanceof ArchiveError) return error
  const code = refusalOf(error)
  const message = error instanceof Error ? error.message : String(error)
  if (code) return fromDaemonCode(code, message, error)
  if ((error as Error)?.name === "AbortError") return new ArchiveError("aborted", "It was broken off.", { cause: error })
  return new ArchiveError("internal", message, { cause: error })
}

import { z } from "zod"

/**
 * Ids that become part of a file name or of an address of agentctl. An imported log can hold anything in their place, so that each
 * has a form that is safe there, checked wherever one comes in.
 */
export const SESSION_ID = /^sess_[A-Za-z0-9_-]{1,100}$/
export const WORKER_ID = /^wrk_[A-Za-z0-9_-]{1,60}$/
export const ARCHIVE_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/

/** When an id was made, in milliseconds; null for one of another form than ours, as an import may bring. */
export function madeAt(id: string): number | null {
  const time = /^[a-z]+_([0-9a-z]{8})[0-9a-f]{16}$/.exec(id)?.[1]
  return time === undefined ? null : Number.parseInt(time, 36)
}

export const PromptId = z.string().regex(/^[A-Za-z0-9_-]{1,100}$/)
export const PermissionId = z.string().regex(/^[A-Za-z0-9_-]{1,100}$/)
export const WorkerId = z.string().regex(WORKER_ID)
export const ArchiveId = z.string().regex(ARCHIVE_ID)
export const Sha256 = z.string().regex(/^[0-9a-f]{64}$/)

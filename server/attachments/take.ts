import { z } from "zod"
import { ATTACHMENTS_MAX_BYTES, Attachment } from "../../lib/contracts/attachments"
import { AppError } from "../../lib/contracts/errors"
import { type Change, update } from "../journal"
import { readColumn } from "../platform/columns"
import type { Database } from "../platform/database"

const META = { id: true, name: true, mime_type: true, bytes: true, sha256: true } as const

/** What a message wants to take along, as it stood at the look. */
export type Wanted = { ids: readonly string[]; found: readonly (Attachment & { session_id: string | null })[] }

export async function findWanted(db: Database, userId: string, given: readonly string[] = []): Promise<Wanted> {
  const ids = [...new Set(given)]
  if (ids.length === 0) return { ids, found: [] }
  const found = await db.attachment.findMany({ where: { id: { in: ids }, user_id: userId }, select: { ...META, session_id: true } })
  return { ids, found }
}

/** In the order they were named. An attachment goes with one message: another that names it is a mistake, and nothing is written. */
export function requireFree({ ids, found }: Wanted): Attachment[] {
  const free = new Map(found.flatMap(({ session_id, ...attachment }) => (session_id === null ? [[attachment.id, attachment]] : [])))
  const refused = ids.filter((id) => !free.has(id))
  if (refused.length > 0)
    throw new AppError("INVALID_INPUT", `Not there, or sent already: ${refused.join(", ")}. Attach it again.`, {
      issues: refused.map((id) => `attachments: ${id} is not there, or was sent already`),
    })
  const attachments = ids.flatMap((id) => free.get(id) ?? [])
  if (attachments.reduce((sum, { bytes }) => sum + bytes, 0) > ATTACHMENTS_MAX_BYTES)
    throw new AppError("PAYLOAD_TOO_LARGE", `A message takes files of ${ATTACHMENTS_MAX_BYTES / 1024 / 1024} MB along at most.`, {
      limit_bytes: ATTACHMENTS_MAX_BYTES,
    })
  return attachments
}

/** With the message's own commit: of two messages that name the same attachment one is lost, whole. */
export const taken = (attachments: readonly Attachment[], sessionId: string): Change[] =>
  attachments.map(({ id }) => update("attachments", { id, session_id: null }, { session_id: sessionId }))

/** Of this session alone: an imported log may name anybody's. Null when its bytes are not here. */
export async function readContent(db: Database, sessionId: string, id: string): Promise<Buffer | null> {
  const row = await db.attachment.findUnique({ where: { id }, select: { session_id: true, data: true } })
  return row?.session_id === sessionId ? Buffer.from(row.data, "base64") : null
}

/** What the row of a prompt says of them. */
export const attachmentsOf = (prompt: { id: string; attachments: string | null }): Attachment[] =>
  readColumn(`prompts.attachments ${prompt.id}`, prompt.attachments, z.array(Attachment), [])

import { createHash } from "node:crypto"
import type { EventOf } from "../../lib/contracts/events"
import { Time } from "../../lib/contracts/time"
import { parseObject } from "../platform/parse-object"

export type StoredRow = { session_id: string; seq: number; ts: string; kind: string; v: number; payload: string }
export type ReadRow =
  | { fields: Record<string, unknown>; rejected: null }
  /** It cannot be read: this stands in its place. */
  | { fields: null; rejected: EventOf<"record.rejected"> }

/** For a moment that cannot be read: none that anybody lived through. */
export const NO_TIME = new Date(0).toISOString()

/** Every kind there was or will be has this form. */
const KIND = /^[a-z_]+(\.[a-z_]+)+$/

/** The fields of a row of the log. A row that disks or people have damaged must not take the rows around it along: never throws. */
export function readRow({ session_id, seq, ts, kind, payload }: StoredRow): ReadRow {
  const fields = KIND.test(kind) && Time.safeParse(ts).success ? parseObject(payload) : null
  if (fields) return { fields, rejected: null }
  const sha256 = createHash("sha256").update(payload).digest("hex")
  const at = Time.safeParse(ts).data ?? NO_TIME
  return { fields: null, rejected: rejectedAt({ session_id, seq, ts: at }, sha256) }
}

export const rejectedAt = (place: { session_id: string; seq: number; ts: string }, sha256 = ""): EventOf<"record.rejected"> => ({
  ...place,
  v: 1,
  kind: "record.rejected",
  sha256,
  reason: "unreadable in the database",
})

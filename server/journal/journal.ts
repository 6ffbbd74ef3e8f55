import { AppError } from "../../lib/contracts/errors"
import { isActivity, isTerminalKind, type NewEvent, SessionEvent } from "../../lib/contracts/events"
import type { Clock } from "../platform/clock"
import type { Database } from "../platform/database"
import { DatabaseFailure } from "../platform/storage-trouble"
import type { StoredEvent, WriteRequest, WriteResult } from "./apply-batch"
import type { Change, Value } from "./changes"
import { NO_TIME, readRow, rejectedAt, type StoredRow } from "./damaged-row"
import { type FoundRow, findRows } from "./find-rows"
import { project } from "./project"
import { createGroupCommit, type Writer } from "./writer"

/** `task_id` 0: the task is made in the same commit, and its id arrives as the ref `task_id`. */
export type SessionRef = { id: string; task_id: number; user_id: string }

export type Commit = {
  session: SessionRef
  /** Everything that must still be true; the first that is not loses the whole commit. */
  guards?: Change[]
  /** Rows that do not follow from the events: cursors, owners, the task beside its session. */
  rows?: Change[]
  events: NewEvent[]
}
export type Committed = { events: SessionEvent[]; refs: Record<string, Value> }
export type Follower = (session: SessionRef, events: SessionEvent[]) => void

const conflictTag = Symbol.for("rewake.commit-conflict")
/** Somebody else was first. Read again, then decide again. */
export class CommitConflict extends Error {
  readonly [conflictTag] = true
  constructor(
    readonly table: string,
    op: string,
  ) {
    super(`lost: ${op} ${table}`)
  }
}
export const isConflict = (error: unknown): error is CommitConflict => typeof error === "object" && error !== null && conflictTag in error

/** The database refused this commit's content; others in its group went through. */
export class StoreRefused extends Error {}

/** The one door for writes that matter: guards, rows and events in one durable transaction; followers hear of it after the commit. */
export function openJournal({ writer, db, clock }: { writer: Writer; db: Database; clock: Clock }) {
  const group = createGroupCommit(writer)
  const followers = new Set<Follower>()
  const submit = (request: WriteRequest) =>
    group.submit(request).catch((cause: unknown) => {
      throw new DatabaseFailure(cause instanceof Error ? cause.message : String(cause), { cause })
    })

  async function commit({ session, guards = [], rows = [], events }: Commit): Promise<Committed> {
    const ts = clock.now().toISOString()
    const stored = events.map((event) => toStored(event, ts))
    const task_id = session.task_id > 0 ? session.task_id : { ref: "task_id" }
    const after = events.flatMap((event, i) => project(event, { session_id: session.id, task_id, ts, seq: { ref: `seq.${i}` } }))
    const active_at = events.some((event) => isActivity(event.kind)) ? ts : null
    const result = settle(await submit({ session_id: session.id, before: [...guards, ...rows], events: stored, after, active_at }))
    const placed = events.map((event, i) => ({ session_id: session.id, seq: result.first_seq + i, ts, v: 1, ...event }) as SessionEvent)
    const ref = session.task_id > 0 ? session : { ...session, task_id: result.refs.task_id as number }
    if (placed.length > 0) for (const follower of followers) follower(ref, placed)
    return { events: placed, refs: result.refs }
  }

  /** Rows that belong to no session: people, tokens, boots, reports. The same writer, the same durability. */
  async function write(changes: Change[]): Promise<Record<string, Value>> {
    return settle(await submit({ session_id: null, before: changes, events: [], after: [], active_at: null })).refs
  }

  /** In order, after `after`; holes are legal, since deltas may be compacted away. */
  async function read(sessionId: string, after: number, limit: number): Promise<Page> {
    return readPage(sessionId, limit, after, (from, take) =>
      findRows(db, sessionId, { after: from, upTo: LARGEST_SEQ, order: "asc", take }),
    )
  }

  /** The page that ends just before `before`, in ascending order. */
  async function readBefore(sessionId: string, before: number, limit: number): Promise<Page> {
    const { events, more } = await readPage(sessionId, limit, before, (from, take) =>
      findRows(db, sessionId, { after: 0, upTo: from - 1, order: "desc", take }),
    )
    return { events: events.reverse(), more }
  }

  async function head(sessionId: string): Promise<number> {
    const row = await db.session.findUnique({ where: { id: sessionId }, select: { last_seq: true } })
    if (!row) throw new AppError("NOT_FOUND", "There is no such session.", { entity: "session" })
    return row.last_seq
  }

  return {
    commit,
    write,
    read,
    readBefore,
    head,
    follow(follower: Follower) {
      followers.add(follower)
      return () => followers.delete(follower)
    },
    close: () => group.close(),
  }
}
export type Journal = ReturnType<typeof openJournal>

function settle(result: WriteResult) {
  if (result.ok) return result
  if ("lost" in result) throw new CommitConflict(result.lost.table, result.lost.op)
  throw new StoreRefused(result.error, { cause: result.code })
}

function toStored({ kind, ...fields }: NewEvent, ts: string): StoredEvent {
  return {
    ts,
    kind,
    v: 1,
    terminal_run_id: isTerminalKind(kind) ? (fields as { run_id: string }).run_id : null,
    payload: JSON.stringify(fields),
  }
}

/** More is not answered at once, whatever was asked for: an agent may say things of megabytes. */
const PAGE_BYTES = 4 * 1024 * 1024
const FIRST_ROWS = 32
/** What the column holds on PostgreSQL. */
const LARGEST_SEQ = 2_147_483_647

/** `more`: it ended because it was full; there may be further ones. */
export type Page = { events: SessionEvent[]; more: boolean }

/** Up to `limit` events and PAGE_BYTES, at least one. Read in portions that grow while events are small, so that large ones are few. */
async function readPage(
  session_id: string,
  limit: number,
  start: number,
  find: (from: number, take: number) => Promise<FoundRow[]>,
): Promise<Page> {
  const events: SessionEvent[] = []
  let bytes = 0
  let from = start
  for (let take = FIRST_ROWS; events.length < limit && bytes < PAGE_BYTES; take *= 4) {
    const wanted = Math.min(take, limit - events.length)
    const rows = await find(from, wanted)
    for (const { seq, row } of rows) {
      if (bytes >= PAGE_BYTES) return { events, more: true }
      events.push(row ? parseRow(row) : rejectedAt({ session_id, seq, ts: events.at(-1)?.ts ?? NO_TIME }))
      bytes += row?.payload.length ?? 0
      from = seq
    }
    if (rows.length < wanted) return { events, more: false }
  }
  return { events, more: true }
}

/**
 * After this the type is true. A row of a kind this build does not know would come from a newer one; it is shown as an update, not
 * lost. One that cannot be read is a rejected record where it stands.
 */
export function parseRow(row: StoredRow): SessionEvent {
  const { fields, rejected } = readRow(row)
  if (rejected) return rejected
  const placed = { session_id: row.session_id, seq: row.seq, ts: row.ts, v: row.v, kind: row.kind }
  const parsed = SessionEvent.safeParse({ ...fields, ...placed })
  return parsed.success ? parsed.data : { ...placed, v: 1, kind: "agent.update", run_id: null, update: { kind: row.kind, ...fields } }
}

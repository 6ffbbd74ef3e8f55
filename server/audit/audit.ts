import { RateLimiterMemory } from "rate-limiter-flexible"
import { type AuditAction, AuditEvent, type AuditOutcome, type AuditPage, type AuditQuery } from "../../lib/contracts/audit"
import type { AppError } from "../../lib/contracts/errors"
import { type Change, insert, type Journal } from "../journal"
import type { Clock } from "../platform/clock"
import { readColumn } from "../platform/columns"
import type { AuditRow, Database } from "../platform/database"
import { ids } from "../platform/ids"
import type { Logger } from "../platform/logger"
import { decodeCursor, encodeCursor } from "../platform/page-cursor"

/** Who asks, as far as it is known. */
type AuditSource = {
  caller: { person: { id: string; email: string }; via: "browser" | "token"; credential_id: string } | null
  /** Null on the command line. */
  address: string | null
  via?: AuditEvent["via"]
}
type AuditEntry = {
  action?: AuditAction
  outcome?: AuditOutcome
  target?: string | null
  details?: AuditEvent["details"]
  /** Whose account it is about where nobody is signed in yet. */
  user?: { id: string | null; email: string }
}

/** The entry of one request. */
export type Trail = {
  /** As a row change: written in the commit of what it tells, so that neither is there without the other. */
  entry(entry?: AuditEntry): Change
  /** What it is done to, unless an entry says otherwise. */
  about(target: string): void
  /** At the end of the request: written by itself if no commit took it. */
  close(): Promise<void>
  /** What was asked for was refused. */
  refused(error: AppError): Promise<void>
}

type AuditFilters = Omit<AuditQuery, "cursor" | "limit">

/** Somebody who is refused again and again must not fill the disk; the server's own log counts the rest. */
const REFUSALS = { points: 30, duration: 60 }
const EXPORT_PAGE = 500

/** The security log: added to, read, never changed; the database's own triggers see to the last. */
export function createAudit({ db, journal, clock, logger }: { db: Database; journal: Journal; clock: Clock; logger: Logger }) {
  const refusals = new RateLimiterMemory(REFUSALS)

  function row({ caller, address, via }: AuditSource, entry: AuditEntry & { action: AuditAction }): Change {
    return insert("audit_events", {
      id: ids.auditEvent(),
      at: clock.now().toISOString(),
      action: entry.action,
      outcome: entry.outcome ?? "done",
      user_id: entry.user?.id ?? caller?.person.id ?? null,
      user_email: entry.user?.email ?? caller?.person.email ?? null,
      via: via ?? caller?.via ?? "anonymous",
      credential_id: caller?.credential_id ?? null,
      address,
      target: entry.target ?? null,
      details: JSON.stringify(entry.details ?? {}),
    })
  }

  /** The action has happened, or was refused, already: a log that cannot be written must not turn its answer into an error. */
  async function tell(entry: Change): Promise<void> {
    await journal.write([entry]).catch((error) => logger.error({ err: error }, "an entry of the security log could not be written"))
  }

  /** `action`: what the request does, by the API table; null for one that is only told when it is refused. */
  function trail(action: AuditAction | null, source: AuditSource): Trail {
    let taken = false
    let target: string | null = null
    return {
      about(what) {
        target = what
      },
      entry(entry = {}) {
        taken = true
        const told = entry.action ?? action
        if (!told) throw new Error("an audit entry needs an action")
        return row(source, { target, ...entry, action: told })
      },
      async close() {
        if (!taken && action) await tell(row(source, { target, action }))
      },
      async refused(error) {
        const isDenial = error.code === "FORBIDDEN"
        // A malformed or conflicting request is nobody's attempt at anything.
        if (!isDenial && !(error.code === "NOT_FOUND" && source.caller === null && action)) return
        const key = source.caller?.person.id ?? source.address ?? ""
        const counted = await refusals.consume(key).catch(() => null)
        if (!counted) return logger.warn({ action, key }, "refused too often to be written down each time")
        const details = { code: error.code, message: error.message }
        await tell(row(source, { target, action: action ?? "access.denied", outcome: "denied", details }))
      },
    }
  }

  const where = ({ action, outcome, user, since, until }: AuditFilters) => ({
    ...(action ? { action } : {}),
    ...(outcome ? { outcome } : {}),
    ...(user ? { user_email: { contains: user.toLowerCase() } } : {}),
    ...(since || until ? { at: { ...(since ? { gte: since } : {}), ...(until ? { lt: until } : {}) } } : {}),
  })

  async function list({ cursor, limit, ...filters }: AuditQuery): Promise<AuditPage> {
    const after = cursor ? decodeCursor(cursor) : null
    const rows = await db.auditEvent.findMany({
      where: { AND: [where(filters), after ? { OR: [{ at: { lt: after.at } }, { at: after.at, id: { lt: after.id } }] } : {}] },
      orderBy: [{ at: "desc" }, { id: "desc" }],
      take: limit + 1,
    })
    const page = rows.slice(0, limit)
    const last = page.at(-1)
    return { items: page.map(toEvent), next_cursor: rows.length > limit && last ? encodeCursor({ at: last.at, id: last.id }) : null }
  }

  /** Lines of JSON, oldest first, up to what is there now: its own entry, or one added while it is read, would be in it by chance. */
  async function exported(filters: AuditFilters): Promise<AsyncGenerator<Uint8Array>> {
    const newest = await db.auditEvent.findFirst({ where: where(filters), orderBy: [{ at: "desc" }, { id: "desc" }] })
    return linesUpTo(newest, filters)
  }

  /** Read page by page, as fast as they are taken. */
  async function* linesUpTo(newest: AuditRow | null, filters: AuditFilters): AsyncGenerator<Uint8Array> {
    if (!newest) return
    const upTo = { OR: [{ at: { lt: newest.at } }, { at: newest.at, id: { lte: newest.id } }] }
    let last: { at: string; id: string } | null = null
    for (;;) {
      const after: object = last ? { OR: [{ at: { gt: last.at } }, { at: last.at, id: { gt: last.id } }] } : {}
      const rows: AuditRow[] = await db.auditEvent.findMany({
        where: { AND: [where(filters), upTo, after] },
        orderBy: [{ at: "asc" }, { id: "asc" }],
        take: EXPORT_PAGE,
      })
      if (rows.length > 0) yield Buffer.from(rows.map((found) => `${JSON.stringify(toEvent(found))}\n`).join(""))
      last = rows.at(-1) ?? null
      if (rows.length < EXPORT_PAGE) return
    }
  }

  return { trail, write: (entries: Change[]) => journal.write(entries), list, exported }
}
export type Audit = ReturnType<typeof createAudit>

const toEvent = ({ details, ...row }: AuditRow): AuditEvent =>
  ({ ...row, details: readColumn(`audit_events.details ${row.id}`, details, AuditEvent.shape.details, {}) }) as AuditEvent

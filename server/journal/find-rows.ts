import type { Database, EventRow } from "../platform/database"

/** A row of a log, or the place of one that the database itself cannot give any more. */
export type FoundRow = { seq: number; row: EventRow | null }
/** Rows after `after`, up to `upTo`; in descending order from the end. */
type Range = { after: number; upTo: number; order: "asc" | "desc"; take: number }

/**
 * Rows of a session's log. Where the database cannot give them together, they are asked for one by one: one damaged cell or page must
 * not hide what can still be read.
 */
export async function findRows(db: Database, session_id: string, range: Range): Promise<FoundRow[]> {
  const { after, upTo, order, take } = range
  try {
    const where = { session_id, seq: { gt: after, lte: upTo } }
    const rows = await db.sessionEvent.findMany({ where, orderBy: { seq: order }, take })
    return rows.map((row) => ({ seq: row.seq, row }))
  } catch (error) {
    if (!isDamage(error)) throw error
    return findOneByOne(db, session_id, range)
  }
}

async function findOneByOne(db: Database, session_id: string, { after, upTo, order, take }: Range): Promise<FoundRow[]> {
  const session = await db.session.findUnique({ where: { id: session_id }, select: { last_seq: true } })
  const last = Math.min(upTo, session?.last_seq ?? 0)
  const found: FoundRow[] = []
  for (let nth = 0; nth < last - after && found.length < take; nth++) {
    const seq = order === "asc" ? after + 1 + nth : last - nth
    try {
      const row = await db.sessionEvent.findUnique({ where: { session_id_seq: { session_id, seq } } })
      // A hole is legal.
      if (row) found.push({ seq, row })
    } catch (error) {
      if (!isDamage(error)) throw error
      found.push({ seq, row: null })
    }
  }
  return found
}

const PAGE = 1_000

/** A whole log, page by page. */
export async function* allRows(db: Database, sessionId: string, upTo: number): AsyncGenerator<FoundRow[]> {
  for (let after = 0; after < upTo; ) {
    const page = await findRows(db, sessionId, { after, upTo, order: "asc", take: PAGE })
    const last = page.at(-1)
    if (!last) return
    yield page
    after = last.seq
  }
}

/** Prisma's code for a cell that does not fit its column. */
const INCONSISTENT = "P2023"
/** What the database holds is wrong. One that is away or locked says other things, and is no reason to call a row lost. */
const isDamage = (error: unknown): boolean =>
  error instanceof Error && ((error as { code?: string }).code === INCONSISTENT || /malformed|corrupt/i.test(error.message))

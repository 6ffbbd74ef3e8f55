import { AppError } from "../../lib/contracts/errors"
import { type Person, requireSession } from "../auth"
import { journalGeneration } from "../journal"
import type { SessionDeps } from "./deps"

export async function readEvents(
  deps: SessionDeps,
  person: Person,
  sessionId: string,
  page: { after?: number | undefined; before?: number | undefined; limit: number },
) {
  const session = await requireSession(deps.db, person, sessionId)
  requireCursor(page.after ?? 0, session.last_seq)
  const { events, more } =
    page.before === undefined
      ? await deps.journal.read(session.id, page.after ?? 0, page.limit)
      : await deps.journal.readBefore(session.id, Math.min(page.before, 2_147_483_647), page.limit)
  const head_seq = Math.max(session.last_seq, events.at(-1)?.seq ?? 0)
  return { events, more, head_seq, generation: await journalGeneration(deps.db) }
}

/** A cursor beyond the head comes from another life of this journal: answering "nothing new" would hide everything. */
export function requireCursor(after: number, head_seq: number): void {
  if (after > head_seq)
    throw new AppError("CURSOR_AHEAD", "This cursor lies beyond the end of the log. Load it again from 0.", { head_seq })
}

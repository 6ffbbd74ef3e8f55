import type { SessionEvent } from "../../lib/contracts/events"
import { renderContext } from "../history"
import type { ExecutionDeps } from "./context"
import type { LoadedSession } from "./session-facts"

const PAGE = 2_000
/** More would not fit into the history's budget; a session of years is not read from its start for one prompt. */
const NEWEST_EVENTS = 10_000

/** What the agent is really given: the message, and in front of it the history when the agent could not load its own. */
export async function effectiveContent(deps: ExecutionDeps, loaded: LoadedSession, content: string): Promise<string> {
  if (loaded.executor.context_pending !== 1) return content
  // Of an open run nothing belongs to the history: a repeated hand-over must render the same text again.
  const before = loaded.session.run_first_seq === null ? loaded.session.last_seq + 1 : loaded.session.run_first_seq - 1
  return renderContext(await newestEvents(deps, loaded.session.id, before), content)
}

async function newestEvents(deps: ExecutionDeps, sessionId: string, before: number): Promise<SessionEvent[]> {
  const pages: SessionEvent[][] = []
  for (let end = before, count = 0; count < NEWEST_EVENTS; ) {
    const page = await deps.journal.readBefore(sessionId, end, PAGE)
    pages.unshift(page)
    count += page.length
    const first = page[0]
    if (!first || page.length < PAGE) break
    end = first.seq
  }
  return pages.flat()
}

import type { EventOf, SessionEvent } from "../../lib/contracts/events"
import { renderContext } from "../history"
import type { ExecutionDeps } from "./context"
import type { LoadedSession } from "./session-facts"

type Continued = EventOf<"session.continued">

const PAGE = 2_000
/** More would not fit into the history's budget; a session of years is not read from its start for one prompt. */
const NEWEST_EVENTS = 10_000
/** Sessions that go on with each other; a longer chain would fill the budget with its newest links anyway. */
const MAX_CHAIN = 5

/** What the agent is really given: the message, and in front of it the history when the agent could not load its own. */
export async function effectiveContent(deps: ExecutionDeps, loaded: LoadedSession, content: string): Promise<string> {
  if (loaded.executor.context_pending !== 1) return content
  const { session } = loaded
  // Of an open run nothing belongs to the history: a repeated hand-over must render the same text again.
  const before = session.run_first_seq === null ? session.last_seq + 1 : session.run_first_seq - 1
  const own = await newestEvents(deps, session.id, before)
  const from = await takenOver(deps, session.id, session.user_id)
  return renderContext([...(await conversationBefore(deps, from, session.user_id)), ...own], content, from && briefing(deps, from))
}

/** Read up to where it was taken over: what is said there later belongs to that session alone. */
async function conversationBefore(deps: ExecutionDeps, from: Continued | null, userId: string): Promise<SessionEvent[]> {
  let events: SessionEvent[] = []
  let link = from
  for (let depth = 0; link && depth < MAX_CHAIN && events.length < NEWEST_EVENTS; depth++) {
    events = [...(await newestEvents(deps, link.from_session_id, link.from_seq + 1)), ...events]
    link = await takenOver(deps, link.from_session_id, userId)
  }
  return events
}

/** A log that was imported can name any session: only the same person's is gone on with. */
async function takenOver(deps: ExecutionDeps, sessionId: string, userId: string): Promise<Continued | null> {
  const { events } = await deps.journal.readBefore(sessionId, 3, 2)
  const continued = events.find((event): event is Continued => event.kind === "session.continued")
  const source = continued && (await deps.db.session.findUnique({ where: { id: continued.from_session_id }, select: { user_id: true } }))
  return continued && source?.user_id === userId ? continued : null
}

const briefing = (deps: ExecutionDeps, { from_agent, from_workspace }: Continued): string[] => [
  `The history above was made by another session of the same task, with the agent ${deps.agents.get(from_agent).name}. You take it over.`,
  from_workspace
    ? `Its files are in ${from_workspace}. Yours is a workspace of your own: take over from there what you need.`
    : "Its files are not at hand; your workspace is a new one.",
]

async function newestEvents(deps: ExecutionDeps, sessionId: string, before: number): Promise<SessionEvent[]> {
  const pages: SessionEvent[][] = []
  for (let end = before, count = 0; count < NEWEST_EVENTS; ) {
    const { events, more } = await deps.journal.readBefore(sessionId, end, PAGE)
    pages.unshift(events)
    count += events.length
    const first = events[0]
    if (!first || !more) break
    end = first.seq
  }
  return pages.flat()
}

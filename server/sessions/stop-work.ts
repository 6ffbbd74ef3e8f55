import type { NewEvent } from "../../lib/contracts/events"
import { guard, isConflict } from "../journal"
import { refOf, type SessionDeps } from "./deps"

/** The reason under which messages and questions stand in the log. */
const REASON = "access_lost"

/**
 * For a user who may not run anything there any more: the run is cancelled, questions are withdrawn, queued messages held, the agent
 * and the terminals' processes ended. Nothing is lost: who is allowed again releases the messages. False: not all of it could be done yet.
 */
export async function stopWork(deps: SessionDeps, sessionId: string): Promise<boolean> {
  for (;;) {
    const session = await deps.db.session.findUnique({ where: { id: sessionId } })
    if (!session) return true
    const [tokens, queued] = await Promise.all([
      deps.db.resumeToken.findMany({ where: { session_id: sessionId, state: "live" } }),
      deps.db.prompt.findMany({ where: { session_id: sessionId, state: "queued" } }),
    ])
    const { open_run_id, cancel_requested, open_waits } = session
    const events: NewEvent[] = [
      ...tokens.map((token): NewEvent => ({ kind: "token.revoked", resume_token_id: token.id, reason: REASON })),
      ...queued.map((prompt): NewEvent => ({ kind: "prompt.held", prompt_id: prompt.id, reason: REASON })),
      ...(open_run_id && !cancel_requested
        ? [{ kind: "run.cancel_requested", run_id: open_run_id, by: null, reason: REASON } as const]
        : []),
    ]
    try {
      if (events.length > 0)
        await deps.journal.commit({
          session: refOf(session),
          guards: [guard("sessions", { id: sessionId, open_run_id, cancel_requested, open_waits })],
          events,
        })
    } catch (error) {
      if (isConflict(error)) continue
      throw error
    }
    return deps.coordinator.stopEverything(sessionId)
  }
}

import type { NewEvent } from "../../lib/contracts/events"
import type { Stopped } from "../execution"
import { guard, isConflict } from "../journal"
import { refOf, type SessionDeps } from "./deps"

/** The reason under which messages, questions and the run's end stand in the log. */
const REASON = "access_lost"

/**
 * For a user who may not run anything there any more: the run is cancelled, questions are withdrawn, queued messages held, the agent
 * and the terminals' processes ended. Nothing is lost: who is allowed again releases the messages.
 */
export const stopWork = (deps: SessionDeps, sessionId: string): Promise<Stopped> =>
  deps.coordinator.stopEverything(sessionId, () => holdWork(deps, sessionId))

/** Says whether there was anything to hold. */
async function holdWork(deps: SessionDeps, sessionId: string): Promise<boolean> {
  for (;;) {
    const session = await deps.db.session.findUnique({ where: { id: sessionId } })
    if (!session) return false
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
    if (events.length === 0) return false
    try {
      await deps.journal.commit({
        session: refOf(session),
        guards: [guard("sessions", { id: sessionId, open_run_id, cancel_requested, open_waits })],
        events,
      })
      return true
    } catch (error) {
      if (!isConflict(error)) throw error
    }
  }
}

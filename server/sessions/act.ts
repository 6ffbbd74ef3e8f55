import { AppError } from "../../lib/contracts/errors"
import type { NewEvent } from "../../lib/contracts/events"
import { isTerminalState, type SessionState } from "../../lib/contracts/status"
import type { Outcome } from "../../lib/contracts/waits"
import { type Person, requireSession } from "../auth"
import { resumed } from "../execution"
import { guard, isConflict } from "../journal"
import type { Session } from "../platform/database"
import { judgeAnswer } from "../resume-tokens"
import type { SessionDeps } from "./deps"
import type { Views } from "./views"

const refOf = (session: Session) => ({ id: session.id, task_id: session.task_id, user_id: session.user_id })

/** Answers a wait. The commit consumes the token once, whoever races; delivery to the agent follows, and is repeated until it is confirmed. */
export async function answerWait(
  deps: SessionDeps,
  person: Person,
  sessionId: string,
  tokenId: string,
  answer: { secret: string; outcome: Outcome },
): Promise<void> {
  for (;;) {
    const session = await requireSession(deps.db, person, sessionId)
    const token = await deps.db.resumeToken.findUnique({ where: { id: tokenId } })
    const verdict = judgeAnswer(token, { session_id: session.id, open_run_id: session.open_run_id, ...answer, now: deps.clock.now() })
    if (verdict === "already_consumed_alike") return
    const run_id = session.open_run_id as string
    try {
      await deps.journal.commit({
        session: refOf(session),
        guards: [guard("sessions", { id: session.id, open_run_id: run_id, open_waits: session.open_waits })],
        events: [
          { kind: "token.consumed", resume_token_id: tokenId, outcome: answer.outcome, by: person.id },
          ...resumed(run_id, tokenId, session.open_waits),
        ],
      })
      deps.coordinator.poke(session.id)
      return
    } catch (error) {
      if (!isConflict(error)) throw error
    }
  }
}

/** Asks the open run to stop. Nothing to stop is not an error: the turn may have ended a moment ago. */
export async function cancelRun(
  deps: SessionDeps,
  person: Person,
  sessionId: string,
): Promise<{ session_id: string; cancelling: boolean }> {
  for (;;) {
    const session = await requireSession(deps.db, person, sessionId)
    if (!session.open_run_id) return { session_id: session.id, cancelling: false }
    if (!session.cancel_requested) {
      const tokens = await deps.db.resumeToken.findMany({ where: { session_id: session.id, state: "live" } })
      const events: NewEvent[] = [
        ...tokens.map((token): NewEvent => ({ kind: "token.revoked", resume_token_id: token.id, reason: "cancelled" })),
        { kind: "run.cancel_requested", run_id: session.open_run_id, by: person.id },
      ]
      try {
        await deps.journal.commit({ session: refOf(session), guards: [guard("sessions", { id: session.id, cancel_requested: 0 })], events })
      } catch (error) {
        if (isConflict(error)) continue
        throw error
      }
    }
    deps.coordinator.poke(session.id)
    return { session_id: session.id, cancelling: true }
  }
}

/** Brings the agent up again. Goes on when the browser that asked goes away. */
export async function resumeSession(
  deps: SessionDeps,
  views: Views,
  person: Person,
  sessionId: string,
  options: { fresh?: boolean | undefined },
) {
  const session = await requireSession(deps.db, person, sessionId)
  if (isTerminalState(session.state as SessionState))
    throw new AppError("SESSION_TERMINAL", "This session has ended.", { state: session.state })
  const status = await views.status(session)
  if (status.is_agent_running && !options.fresh) return { session_id: session.id, resume_strategy: "adopt", already_running: true }
  if (status.resume_reason === "not_resumable" && !options.fresh) {
    throw new AppError("SESSION_NOT_RESUMABLE", "This agent doesn't support resuming. Start a new session.", {})
  }
  deps.coordinator.poke(session.id, { wake: true, fresh: options.fresh ?? false })
  return { session_id: session.id, resume_strategy: options.fresh ? "idle" : (status.resume_strategy ?? "idle"), already_running: false }
}

/** Ends the agent; transcript, queue and workspace stay. */
export async function stopSession(deps: SessionDeps, person: Person, sessionId: string): Promise<{ session_id: string }> {
  const session = await requireSession(deps.db, person, sessionId)
  await cancelRun(deps, person, session.id)
  await deps.coordinator.stop(session.id)
  return { session_id: session.id }
}

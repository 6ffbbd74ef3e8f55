import { AppError } from "../../lib/contracts/errors"
import type { NewEvent } from "../../lib/contracts/events"
import { isTerminalState, type SessionState } from "../../lib/contracts/status"
import type { Outcome } from "../../lib/contracts/waits"
import { killPoint } from "../../lib/host/kill-point"
import { type Person, requireSession } from "../auth"
import { resumed } from "../execution"
import { guard, isConflict, parseRow } from "../journal"
import type { Session } from "../platform/database"
import { judgeAnswer, rejected, requestOf } from "../resume-tokens"
import { refOf, type SessionDeps } from "./deps"
import { expiredError, loadExpiry } from "./expiry"
import type { Views } from "./views"

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
    await deps.access.require(person, session.runtime)
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
      killPoint("answer.committed")
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
    if (!session.open_run_id) {
      deps.coordinator.cancelWake(session.id)
      return { session_id: session.id, cancelling: false }
    }
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
    killPoint("cancel.committed")
    deps.coordinator.poke(session.id)
    return { session_id: session.id, cancelling: true }
  }
}

export type Resume = {
  /** Start without memory, on a person's word. */
  fresh?: boolean | undefined
  /** Undo a fresh start, or give a retired agent session another try. */
  reinstate?: boolean | undefined
  /** Sign the agent in this way, then start it. */
  sign_in?: string | undefined
  resume_token_id?: string | undefined
  secret?: string | undefined
}
type Resumed = { session_id: string; resume_strategy: string; already_running: boolean }

/** Brings the agent up again. Goes on when the browser that asked goes away. */
export async function resumeSession(deps: SessionDeps, views: Views, person: Person, sessionId: string, options: Resume): Promise<Resumed> {
  const session = await requireSession(deps.db, person, sessionId)
  await deps.access.require(person, session.runtime)
  if (isTerminalState(session.state as SessionState))
    throw new AppError("SESSION_TERMINAL", "This session has ended.", { state: session.state })
  if (options.resume_token_id !== undefined) {
    await goOn(deps, person, session.id, options.resume_token_id, options.secret ?? "")
    return { session_id: session.id, resume_strategy: "adopt", already_running: true }
  }
  await requireExecutor(deps, session)
  if (options.reinstate) await reinstateAgentSession(deps, session)
  const status = await views.status(await requireSession(deps.db, person, sessionId))
  if (options.sign_in !== undefined && session.open_run_id) throw new AppError("CONFLICT", "The agent is working. Stop the turn first.", {})
  if (status.is_agent_running && !options.fresh && !options.reinstate && options.sign_in === undefined)
    return { session_id: session.id, resume_strategy: "adopt", already_running: true }
  if (status.resume_reason === "not_resumable" && !options.fresh) {
    throw new AppError("SESSION_NOT_RESUMABLE", "This agent doesn't support resuming. Start a new session.", {})
  }
  deps.coordinator.poke(session.id, { wake: true, fresh: options.fresh ?? false, sign_in: options.sign_in ?? null })
  return { session_id: session.id, resume_strategy: options.fresh ? "idle" : (status.resume_strategy ?? "idle"), already_running: false }
}

/** An agent cannot come back to a place that was put away: the task is restored first, and a person is asked. */
async function requireExecutor(deps: SessionDeps, session: Session): Promise<void> {
  const executor = await deps.db.executorRunning.findUnique({ where: { session_id: session.id }, select: { status: true } })
  if (executor?.status !== "deleted" && executor?.status !== "reaping") return
  const task = await deps.db.task.findUniqueOrThrow({ where: { id: session.task_id } })
  const expiry = await loadExpiry(deps, task, session.id)
  throw expiredError(task, expiry, expiry.reason ?? "expired")
}

/** A resume token by itself says "go on": the wait's first way of allowing it. */
async function goOn(deps: SessionDeps, person: Person, sessionId: string, tokenId: string, secret: string): Promise<void> {
  const token = await deps.db.resumeToken.findUnique({ where: { id: tokenId } })
  if (!token) throw rejected("unknown")
  const { options } = requestOf(token)
  const option = options.find((candidate) => candidate.kind.startsWith("allow")) ?? options[0]
  const outcome: Outcome = option ? { kind: "selected", option_id: option.id } : { kind: "cancelled" }
  await answerWait(deps, person, sessionId, tokenId, { secret, outcome })
}

/** The id was put aside, never forgotten. The agent that took its place ends; the next start loads the old one. */
async function reinstateAgentSession(deps: SessionDeps, session: Session): Promise<void> {
  if (session.open_run_id) throw new AppError("CONFLICT", "The agent is working. Stop the turn first.", {})
  const last = await deps.db.sessionEvent.findFirst({
    // One from before an import is another machine's, or was never an agent's at all.
    where: { session_id: session.id, kind: { in: ["agent.session_retired", "session.imported"] } },
    orderBy: { seq: "desc" },
  })
  const retired = last && parseRow(last)
  if (retired?.kind !== "agent.session_retired")
    throw new AppError("SESSION_NOT_RESUMABLE", "There is no earlier agent session to go back to.", {})
  const { agent_session_id } = retired
  await deps.coordinator.stop(session.id)
  await deps.journal.commit({ session: refOf(session), events: [{ kind: "agent.session_reinstated", agent_session_id }] })
}

/** Ends the agent; transcript, queue and workspace stay. */
export async function stopSession(deps: SessionDeps, person: Person, sessionId: string): Promise<{ session_id: string }> {
  const session = await requireSession(deps.db, person, sessionId)
  await cancelRun(deps, person, session.id)
  await deps.coordinator.stop(session.id)
  return { session_id: session.id }
}

/** Gives up an executor that does not answer: the run is marked interrupted; the executor, should it come back, is told to stop. */
export async function abandonExecutor(deps: SessionDeps, person: Person, sessionId: string): Promise<{ session_id: string }> {
  const session = await requireSession(deps.db, person, sessionId)
  if (isTerminalState(session.state as SessionState))
    throw new AppError("SESSION_TERMINAL", "This session has ended.", { state: session.state })
  await deps.coordinator.abandon(session.id)
  return { session_id: session.id }
}

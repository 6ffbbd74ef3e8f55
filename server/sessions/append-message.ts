import { AppError } from "../../lib/contracts/errors"
import type { NewEvent } from "../../lib/contracts/events"
import { isTerminalState, type SessionState } from "../../lib/contracts/status"
import type { AppendResult } from "../../lib/contracts/task"
import { killPoint } from "../../lib/host/kill-point"
import { attachmentsOf, findWanted, requireFree, taken } from "../attachments"
import { type Person, requireSession, requireTask } from "../auth"
import { messageOf, taskAtWork } from "../execution"
import { type Change, guard, guardFewer, isConflict, parseRow, StoreRefused, updateAny } from "../journal"
import type { ExecutorRunning, Prompt, Task } from "../platform/database"
import { comebackFacts, planAsItStands } from "../status"
import { queued } from "./create-task"
import type { SessionDeps } from "./deps"
import { expiredError, loadExpiry } from "./expiry"
import { requireMessageSize } from "./limits"

const LIVING = ["none", "starting", "ready", "error", "stopped"]

export type Append = {
  message: string
  /** Ids of what was uploaded for it. */
  attachments?: readonly string[] | undefined
  session_id?: string | undefined
  client_message_id?: string | undefined
  /** Rows that change with the message, or not at all. */
  alongside?: (promptId: string) => Change[]
}

/** Accepts a message durably before answering; it is delivered when the session can take it. The same client id again is the same append. */
export async function appendMessage(deps: SessionDeps, person: Person, taskId: number, input: Append): Promise<AppendResult> {
  requireMessageSize(input.message, deps.config.max_message_bytes)
  const task = await requireTask(deps.db, person, taskId)
  const sessionId = input.session_id ?? (await newestSession(deps, task.id))
  // Two at once would both find room for one, and both take the same place.
  return deps.queueTurns.run(sessionId, () => acceptMessage(deps, person, task, sessionId, input))
}

async function acceptMessage(deps: SessionDeps, person: Person, task: Task, sessionId: string, input: Append): Promise<AppendResult> {
  const clientId = input.client_message_id ?? null
  for (let refusals = 0; ; ) {
    // Looked at before the message itself: what this very message has taken meanwhile is found with it.
    const wanted = await findWanted(deps.db, person.id, input.attachments)
    const known = clientId ? await deps.db.prompt.findFirst({ where: { task_id: task.id, client_message_id: clientId } }) : null
    if (known) return sameAppend(deps, known, input)

    const session = await requireSession(deps.db, person, sessionId)
    await deps.access.require(person, session.runtime)
    if (session.task_id !== task.id) throw new AppError("NOT_FOUND", "There is no such session in this task.", { entity: "session" })
    if (isTerminalState(session.state as SessionState))
      throw new AppError("SESSION_TERMINAL", "This session has ended.", { state: session.state })
    const expiry = await loadExpiry(deps, task, session.id)
    if (expiry.reason !== null) throw expiredError(task, expiry, expiry.reason)
    requireResumable(deps, expiry.executor, session.agent)
    const attachments = requireFree(wanted)

    const waiting = await deps.db.prompt.findMany({
      where: { session_id: session.id, state: { in: ["queued", "held"] } },
      select: { rank: true },
    })
    if (waiting.length >= deps.config.queue_max) {
      throw new AppError("QUEUE_FULL", `${deps.config.queue_max} messages are waiting already.`, { limit: deps.config.queue_max })
    }
    const tokens = session.open_waits > 0 ? await deps.db.resumeToken.findMany({ where: { session_id: session.id, state: "live" } }) : []
    const interrupts = tokens.length > 0 && session.open_run_id !== null
    const ranks = waiting.map((prompt) => prompt.rank)
    const rank = ranks.length === 0 ? 0 : interrupts ? Math.min(...ranks) - 1 : Math.max(...ranks) + 1
    const message = queued(input.message, attachments, rank, clientId)
    // A fresh message while a question is open takes the question back: the run is cancelled, and this goes next.
    const takeBack: NewEvent[] = interrupts
      ? [
          ...tokens.map((token): NewEvent => ({ kind: "token.revoked", resume_token_id: token.id, reason: "new_message" })),
          ...(session.cancel_requested
            ? []
            : [{ kind: "run.cancel_requested", run_id: session.open_run_id as string, by: person.id } as const]),
        ]
      : []
    try {
      await deps.journal.commit({
        session: { id: session.id, task_id: task.id, user_id: person.id },
        guards: [
          guard("sessions", {
            id: session.id,
            open_waits: session.open_waits,
            open_run_id: session.open_run_id,
            state: { not: "CANCELLED" },
          }),
          // Guards against the executor being archived concurrently.
          guard("executors_running", { session_id: session.id, status: { in: LIVING } }),
          // Another server may have accepted one since the look above.
          guardFewer("prompts", { session_id: session.id, state: { in: ["queued", "held"] } }, deps.config.queue_max),
        ],
        rows: [
          interrupts || session.open_run_id === null
            ? taskAtWork(task.id, deps.clock.now().toISOString())
            : updateAny("tasks", { id: task.id }, { last_activity_at: deps.clock.now().toISOString() }),
          ...taken(attachments, session.id),
          ...(input.alongside?.(message.prompt_id) ?? []),
        ],
        events: [...message.events, ...takeBack],
      })
    } catch (error) {
      // The session moved on, or the same message arrived twice at once: look again.
      if (isConflict(error) || (error instanceof StoreRefused && clientId && refusals++ === 0)) continue
      throw error
    }
    killPoint("append.committed")
    deps.coordinator.poke(session.id, { wake: true })
    return {
      task_id: task.id,
      session_id: session.id,
      message_id: message.message_id,
      prompt_id: message.prompt_id,
      queue_position: interrupts ? 0 : waiting.length,
    }
  }
}

export async function newestSession(deps: Pick<SessionDeps, "db">, taskId: number): Promise<string> {
  const session = await deps.db.session.findFirst({ where: { task_id: taskId }, orderBy: { created_at: "desc" }, select: { id: true } })
  if (!session) throw new AppError("NOT_FOUND", "This task has no session.", { entity: "session" })
  return session.id
}

/** An id stands for one message: another text under it, or other attachments, is a mistake of the caller's. */
export async function requireSameMessage(
  deps: Pick<SessionDeps, "db">,
  prompt: Prompt,
  given: { message: string; attachments?: readonly string[] | undefined },
): Promise<void> {
  const first = await deps.db.sessionEvent.findFirst({
    where: { session_id: prompt.session_id, kind: "prompt.queued", payload: { contains: prompt.id } },
    orderBy: { seq: "asc" },
  })
  const queued = first && parseRow(first)
  const original = queued?.kind === "prompt.queued" ? queued.content : messageOf(prompt)
  const attached = attachmentsOf(prompt).map(({ id }) => id)
  if (original !== given.message || attached.join() !== [...new Set(given.attachments)].join())
    throw new AppError("IDEMPOTENCY_CONFLICT", "This client_message_id was used for another message.", {})
}

async function sameAppend(deps: SessionDeps, prompt: Prompt, input: Append): Promise<AppendResult> {
  await requireSameMessage(deps, prompt, input)
  const ahead = await deps.db.prompt.count({ where: { session_id: prompt.session_id, state: "queued", rank: { lt: prompt.rank } } })
  return {
    task_id: prompt.task_id,
    session_id: prompt.session_id,
    message_id: prompt.message_id,
    prompt_id: prompt.id,
    queue_position: ahead,
  }
}

/** An agent that is gone and can neither load its session nor be told its history is not started again behind the user's back. */
export function requireResumable(deps: Pick<SessionDeps, "agents">, executor: ExecutorRunning, agent: string): void {
  if (executor.agent_execution_id !== null) return
  const plan = planAsItStands(comebackFacts(executor, deps.agents.get(agent).history_context_injection))
  if (plan.kind !== "impossible") return
  throw new AppError("SESSION_NOT_RESUMABLE", "This agent doesn't support resuming. Start a new session.", {})
}

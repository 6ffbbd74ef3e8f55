import { AppError } from "../../lib/contracts/errors"
import type { NewEvent } from "../../lib/contracts/events"
import type { QueuedPrompt } from "../../lib/contracts/task"
import { attachmentsOf } from "../attachments"
import { type Person, requireSession } from "../auth"
import { messageOf } from "../execution"
import { isConflict } from "../journal"
import type { Prompt } from "../platform/database"
import type { SessionDeps } from "./deps"
import { requireMessageSize } from "./limits"

/** It is held when its turn comes. */
const UNREADABLE_MESSAGE = "(This message cannot be read any more.)"

const readQueue = (deps: SessionDeps, sessionId: string) =>
  deps.db.prompt.findMany({
    where: { session_id: sessionId, state: { in: ["queued", "held"] } },
    orderBy: [{ rank: "asc" }, { queued_at: "asc" }],
  })

export async function listQueue(deps: SessionDeps, person: Person, sessionId: string): Promise<QueuedPrompt[]> {
  const session = await requireSession(deps.db, person, sessionId)
  const prompts = await readQueue(deps, session.id)
  return prompts.map((prompt, position) => ({
    prompt_id: prompt.id,
    message: messageOf(prompt) ?? UNREADABLE_MESSAGE,
    ...(prompt.attachments ? { attachments: attachmentsOf(prompt) } : {}),
    position,
    held: prompt.state === "held",
  }))
}

export async function changePrompt(
  deps: SessionDeps,
  person: Person,
  sessionId: string,
  promptId: string,
  change: { message?: string | undefined; position?: number | undefined; held?: false | undefined },
): Promise<QueuedPrompt[]> {
  if (change.message !== undefined) requireMessageSize(change.message, deps.config.max_message_bytes)
  const { runtime } = await requireSession(deps.db, person, sessionId)
  await deps.access.require(person, runtime)
  await commitOnPrompt(deps, person, sessionId, promptId, (queue, prompt) => [
    ...edited(prompt, change.message),
    ...(change.held === false && queue.some((prompt) => prompt.id === promptId && prompt.state === "held")
      ? [{ kind: "prompt.released", prompt_id: promptId } as const]
      : []),
    ...(change.position === undefined
      ? []
      : placesAfterMove(queue, promptId, change.position).map((place) => ({ kind: "prompt.reordered", ...place }) as const)),
  ])
  if (change.held === false) deps.coordinator.poke(sessionId, { wake: true })
  return listQueue(deps, person, sessionId)
}

/** What was attached stays; without it an empty text would leave nothing to say. */
function edited(prompt: Prompt, content: string | undefined): NewEvent[] {
  if (content === undefined) return []
  if (content === "" && prompt.attachments === null)
    throw new AppError("INVALID_INPUT", "The message must not be empty.", { issues: ["message: must not be empty"] })
  return [{ kind: "prompt.edited", prompt_id: prompt.id, content }]
}

export async function withdrawPrompt(deps: SessionDeps, person: Person, sessionId: string, promptId: string): Promise<void> {
  await commitOnPrompt(deps, person, sessionId, promptId, () => [{ kind: "prompt.withdrawn", prompt_id: promptId }])
}

async function commitOnPrompt(
  deps: SessionDeps,
  person: Person,
  sessionId: string,
  promptId: string,
  decide: (queue: Prompt[], prompt: Prompt) => NewEvent[],
) {
  const session = await requireSession(deps.db, person, sessionId)
  const prompt = await deps.db.prompt.findUnique({ where: { id: promptId } })
  if (!prompt || prompt.session_id !== session.id)
    throw new AppError("NOT_FOUND", "There is no such message in the queue.", { entity: "prompt" })
  const gone = () =>
    new AppError("PROMPT_NOT_QUEUED", "This message is on its way to the agent already, or was withdrawn.", { prompt_id: promptId })
  if (prompt.state !== "queued" && prompt.state !== "held") throw gone()
  try {
    await deps.queueTurns.run(session.id, async () =>
      deps.journal.commit({
        session: { id: session.id, task_id: session.task_id, user_id: person.id },
        events: decide(await readQueue(deps, session.id), prompt),
      }),
    )
  } catch (error) {
    if (isConflict(error)) throw gone()
    throw error
  }
}

/** A rank between its new neighbours, so that moving one prompt touches one row; all are numbered anew when there is none between. */
export function placesAfterMove(
  queue: readonly { id: string; rank: number }[],
  promptId: string,
  position: number,
): { prompt_id: string; rank: number }[] {
  const others = queue.filter((prompt) => prompt.id !== promptId)
  const at = Math.min(position, others.length)
  const before = others[at - 1]?.rank ?? (others[at]?.rank ?? 1) - 2
  const after = others[at]?.rank ?? before + 2
  const rank = (before + after) / 2
  if (before < rank && rank < after) return [{ prompt_id: promptId, rank }]
  const moved = [...others.slice(0, at).map(({ id }) => id), promptId, ...others.slice(at).map(({ id }) => id)]
  return moved.map((prompt_id, place) => ({ prompt_id, rank: place }))
}

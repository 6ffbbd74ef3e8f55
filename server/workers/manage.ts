import { AppError } from "../../lib/contracts/errors"
import type { CreateWorker, PatchWorker, WorkerDetail, WorkerView } from "../../lib/contracts/workers"
import type { TerminalAgent } from "../agents"
import { type Person, requireSession } from "../auth"
import type { Session, Worker } from "../platform/database"
import { ids } from "../platform/ids"
import { learnConversation } from "./ask-agent"
import { conversationOf, newConversation } from "./conversation"
import { openWorkers, refOf, requireWorker, type WorkerDeps } from "./deps"
import { ptyOf, raiseProcess } from "./process"
import { defaultName, inOrder, MAX_WORKERS, moved, toView } from "./tabs"

export async function listWorkers(deps: WorkerDeps, person: Person, sessionId: string): Promise<WorkerView[]> {
  const session = await requireSession(deps.db, person, sessionId)
  return inOrder(await openWorkers(deps, session.id)).map(toView)
}

/** A tab. Its process is started by whoever looks at it first. */
export async function openWorker(deps: WorkerDeps, person: Person, sessionId: string, input: CreateWorker): Promise<WorkerView> {
  const session = await requireSession(deps.db, person, sessionId)
  await deps.access.require(person, session.runtime)
  if (input.type !== "agent" && (input.agent !== undefined || input.fork_of !== undefined))
    throw new AppError("INVALID_INPUT", "Only a worker of type agent has an agent.", { issues: ["agent: not with this type"] })
  const source = input.fork_of === undefined ? null : (await requireWorker(deps, person, sessionId, input.fork_of)).worker
  if (source && (source.type !== "agent" || (input.agent ?? source.agent) !== source.agent))
    throw new AppError("INVALID_INPUT", "A conversation is forked by the agent that holds it.", { issues: ["fork_of: another agent's"] })
  const agentId = input.type === "agent" ? (source?.agent ?? input.agent ?? session.agent) : null
  const agent = agentId === null ? null : await deps.agents.requireTerminal(agentId)
  const from = source && agent ? await conversationToFork(deps, session, source, agent) : null
  const conversation = agent ? newConversation(agent.program, from) : { id: null, forked_from: null }
  return deps.turns.run(session.id, async () => {
    const open = await openWorkers(deps, session.id)
    if (open.length >= MAX_WORKERS)
      throw new AppError("WORKER_LIMIT", `A session has ${MAX_WORKERS} tabs at most. Close one first.`, { limit: MAX_WORKERS })
    const worker_id = ids.worker()
    const name = input.name ?? (input.type === "git-diff" ? "Changes" : defaultName(agent?.name ?? "Terminal", open))
    const position = Math.max(-1, ...open.map((worker) => worker.position)) + 1
    await deps.journal.commit({
      session: refOf(session),
      events: [
        {
          ...{ kind: "worker.opened", worker_id, type: input.type, name, agent: agentId, position },
          ...{ conversation_id: conversation.id, forked_from: conversation.forked_from },
        },
      ],
    })
    return toView(await deps.db.worker.findUniqueOrThrow({ where: { id: worker_id } }))
  })
}

/** The daemon may know better than the row which conversation a tab is in; one that is away leaves the row. */
async function conversationToFork(deps: WorkerDeps, session: Session, source: Worker, agent: TerminalAgent): Promise<string> {
  if (agent.program.fork === null)
    throw new AppError("AGENT_UNAVAILABLE", `${agent.name} cannot fork a conversation.`, { agent: source.agent ?? "" })
  const { id } = await deps
    .reach(session)
    .then(async (place) => learnConversation(deps, place, agent, source, await place.call(() => ptyOf(place, source.id))))
    .catch(() => conversationOf(source, null, agent))
  if (id === null) throw new AppError("CONFLICT", `It is not known yet which conversation ${source.name} is in.`, {})
  return id
}

export async function changeWorker(
  deps: WorkerDeps,
  person: Person,
  sessionId: string,
  workerId: string,
  change: PatchWorker,
): Promise<WorkerView> {
  const { session } = await requireWorker(deps, person, sessionId, workerId)
  return deps.turns.run(session.id, async () => {
    const { worker } = await requireWorker(deps, person, sessionId, workerId)
    const renamed = change.name !== undefined && change.name !== worker.name
    const events = [
      ...(renamed ? [{ kind: "worker.renamed" as const, worker_id: worker.id, name: change.name as string }] : []),
      ...(change.position === undefined ? [] : moved(await openWorkers(deps, session.id), worker.id, change.position)),
    ]
    if (events.length > 0) await deps.journal.commit({ session: refOf(session), events })
    return toView(await deps.db.worker.findUniqueOrThrow({ where: { id: worker.id } }))
  })
}

/** Ends what runs in it and begins again: the conversation goes on, or a new one begins; a shell is new either way. */
export async function restartWorker(
  deps: WorkerDeps,
  person: Person,
  sessionId: string,
  workerId: string,
  restart: { continue: boolean },
): Promise<WorkerView> {
  const { session, worker } = await requireWorker(deps, person, sessionId, workerId)
  await deps.access.require(person, session.runtime)
  requireProcess(worker.type)
  const place = await deps.reach(session)
  deps.restarting.add(worker.id)
  try {
    await raiseProcess(deps, place, worker, { restart })
  } finally {
    deps.restarting.delete(worker.id)
  }
  return toView(worker)
}

/** What is in it now; an executor that does not answer is no reason to fail. */
export async function describeWorker(deps: WorkerDeps, person: Person, sessionId: string, workerId: string): Promise<WorkerDetail> {
  const { session, worker } = await requireWorker(deps, person, sessionId, workerId)
  const pty = await deps
    .reach(session)
    .then((place) => place.call(() => ptyOf(place, worker.id)))
    .catch(() => null)
  return {
    ...toView(worker),
    state: pty?.state ?? "none",
    title: pty?.title ?? null,
    processes: (pty?.processes ?? []).map(({ command, foreground }) => ({ command, foreground })),
  }
}

export function requireProcess(type: string): void {
  if (type === "git-diff")
    throw new AppError("INVALID_INPUT", "This tab shows changes; it has no process.", { issues: ["worker_id: has no process"] })
}

import type { PtyState } from "../../lib/contracts/agentctl/ptys"
import type { TerminalAgent } from "../agents"
import type { Place } from "../execution"
import type { Worker } from "../platform/database"
import { conversationOf, type TabConversation } from "./conversation"
import type { WorkerDeps } from "./deps"

/** A tab waits for this before its agent is started; without an answer it begins without a name. */
const ASK_TIME_LIMIT_MS = 20_000
/** The clocks of a daemon's host and of what an agent writes there may differ by a tick. */
const TICK_MS = 50

async function ask(deps: WorkerDeps, place: Place, agent: TerminalAgent, args: readonly string[], input = ""): Promise<string | null> {
  const { client, session } = place
  try {
    const body = { command: agent.plain(args), input, time_limit_ms: ASK_TIME_LIMIT_MS }
    const { failure, output } = await place.call((epoch) => client.askAgentCommand(session.id, epoch, body))
    if (failure === null) return output
    deps.logger.warn({ session: session.id, agent: agent.name, failure }, "a command of an agent about its conversations failed")
  } catch (error) {
    deps.logger.warn({ session: session.id, agent: agent.name, err: error }, "an agent could not be asked about its conversations")
  }
  return null
}

/** Has the agent make a conversation and tell its name; null where it cannot. */
export async function makeConversation(deps: WorkerDeps, place: Place, agent: TerminalAgent): Promise<string | null> {
  const { make } = agent.program
  if (!make) return null
  const output = await ask(deps, place, agent, make.args, make.input?.(place.executor.workspace_path ?? ""))
  return make.says.exec(output ?? "")?.[1] ?? null
}

/** What is known of a tab's conversation; a copy that the agent named itself is looked for in its list, and is the only one that is nobody else's. */
export async function learnConversation(
  deps: WorkerDeps,
  place: Place,
  agent: TerminalAgent,
  worker: Worker,
  pty: PtyState | null,
): Promise<TabConversation> {
  const known = conversationOf(worker, pty, agent)
  const { list } = agent.program
  if (known.id !== null || !pty?.conversation || !list) return known
  const output = await ask(deps, place, agent, list.args)
  if (output === null) return known
  const { since } = pty.conversation
  const others = await deps.db.worker.findMany({
    where: { agent: worker.agent, conversation_id: { not: null } },
    select: { conversation_id: true },
  })
  const taken = new Set([...others.map(({ conversation_id }) => conversation_id), place.executor.resume_token])
  const found = list
    .read(output)
    .filter(
      ({ id, folder, begun_at }) =>
        folder === place.executor.workspace_path && begun_at >= since - TICK_MS && !taken.has(id) && agent.isConversation(id),
    )
  const [only] = found
  return only && found.length === 1 ? { ...known, id: only.id } : { ...known, unclear: found.length > 1 }
}

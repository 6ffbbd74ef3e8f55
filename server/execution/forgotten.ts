import type { DaemonSession, Recollection } from "../../lib/contracts/agentctl/protocol"
import type { AgentctlClient } from "../executors"
import type { ExecutionDeps, Live } from "./context"
import { stillOwned } from "./ownership"

/** The agent took up its session, and nothing of the conversation is in it. */
export class AgentForgot extends Error {
  constructor(agent: string) {
    super(`${agent} took up its session, but nothing of the conversation is in it any more.`)
  }
}

/**
 * Whether an agent that came back under its own session id shows that it holds nothing. Only evidence counts: an agent that shows
 * nothing either way is believed. Where nothing was said there is nothing to forget, which is for `conversed` to find out.
 */
export function showsNothing(recollection: Recollection | undefined): boolean {
  if (!recollection) return false
  return recollection.kind === "replay" ? recollection.updates === 0 : !recollection.listed
}

/**
 * A server may die after an agent took up its session and before it was judged. Whoever finds that agent judges it: one that
 * has forgotten is ended and its id put aside, before anything is said to it or told of it. True when it was.
 */
export async function dismissForgetful(
  deps: ExecutionDeps,
  live: Live,
  client: AgentctlClient,
  { agent }: DaemonSession,
  name: string,
): Promise<boolean> {
  const { ref, epoch } = live.owned
  if (agent?.state !== "ready" || agent.agent_session_id === null) return false
  if (!(await hasForgotten(deps, ref.id, agent.agent_session_id, agent.recollection))) return false
  await client.stopAgent(ref.id, epoch)
  const { message } = new AgentForgot(name)
  await deps.journal.commit({
    session: ref,
    guards: [stillOwned(live.owned)],
    events: [
      { kind: "resume.failed", strategy: "native", reason: message, retryable: false },
      { kind: "agent.session_retired", agent_session_id: agent.agent_session_id, reason: message },
    ],
  })
  return true
}

/** It shows that it holds nothing, of a conversation in which something was said. */
export const hasForgotten = async (
  deps: ExecutionDeps,
  sessionId: string,
  agentSessionId: string,
  recollection: Recollection | undefined,
): Promise<boolean> => showsNothing(recollection) && (await conversed(deps, sessionId, agentSessionId))

/** A whole answer was given under this id. A turn cut short proves nothing: some agents keep none of it. */
async function conversed(deps: ExecutionDeps, sessionId: string, agentSessionId: string): Promise<boolean> {
  const begun = await deps.db.sessionEvent.findFirst({
    where: { session_id: sessionId, kind: "agent.session_announced", payload: { contains: JSON.stringify(agentSessionId) } },
    orderBy: { seq: "asc" },
    select: { seq: true },
  })
  if (!begun) return false
  const answered = await deps.db.sessionEvent.findFirst({
    where: { session_id: sessionId, seq: { gt: begun.seq }, kind: "run.completed" },
    select: { seq: true },
  })
  return answered !== null
}

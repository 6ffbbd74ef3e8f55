import type { SessionState } from "../../lib/contracts/status"
import type { AgentId } from "../../lib/contracts/task"
import type { AgentRegistry } from "../agents"
import type { Database, ExecutorRunning, Prompt, ResumeToken, Session } from "../platform/database"
import type { SessionFacts } from "./interpret"

export type LoadedSession = {
  session: Session
  executor: ExecutorRunning
  runPrompt: Prompt | null
  /** Live, or answered and not yet seen by the daemon. */
  tokens: ResumeToken[]
}

/** Everything a decision about one session needs, by index look-ups. Null when there is no such session. */
export async function loadSession(db: Database, sessionId: string): Promise<LoadedSession | null> {
  const [session, executor] = await Promise.all([
    db.session.findUnique({ where: { id: sessionId } }),
    db.executorRunning.findUnique({ where: { session_id: sessionId } }),
  ])
  if (!session || !executor) return null
  const [runPrompt, tokens] = await Promise.all([
    session.run_prompt_id ? db.prompt.findUnique({ where: { id: session.run_prompt_id } }) : null,
    db.resumeToken.findMany({ where: { session_id: sessionId, state: { in: ["live", "consumed"] }, confirmed_at: null } }),
  ])
  return { session, executor, runPrompt, tokens }
}

export const toFacts = ({ session, executor, runPrompt, tokens }: LoadedSession): SessionFacts => ({
  state: session.state as SessionState,
  open_run_id: session.open_run_id,
  run_prompt: runPrompt ? { prompt_id: runPrompt.id, state: runPrompt.state } : null,
  cancel_requested: session.cancel_requested === 1,
  open_waits: session.open_waits,
  had_agent: hadAgent(executor),
  resume_strategy: executor.resume_strategy,
  live_tokens: tokens.filter((token) => token.state === "live").map(({ id, request_id }) => ({ id, request_id })),
})

/** An agent has answered here before; the next one is not its first. */
export const hadAgent = (executor: ExecutorRunning) => executor.supports_session_resume !== null

/** What is known of how this session's agent can come back; whether to, and what was tried, is the caller's. */
export const comebackFacts = ({ session, executor }: LoadedSession, agents: AgentRegistry) => ({
  had_agent: hadAgent(executor),
  agent_session_id: executor.resume_token,
  native: executor.supports_session_resume === 1,
  injects: agents.get(session.agent as AgentId).history_context_injection,
})

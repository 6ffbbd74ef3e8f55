import type { AgentFile, CarriedConversation } from "../../lib/contracts/agentctl/archive"
import type { SessionState } from "../../lib/contracts/status"
import type { AgentRegistry } from "../agents"
import type { Database, ExecutorRunning, Prompt, ResumeToken, Session } from "../platform/database"
import { hadAgent } from "../status"
import type { SessionFacts } from "./interpret"
import { setupOf } from "./options"

export type LoadedSession = {
  session: Session
  executor: ExecutorRunning
  runPrompt: Prompt | null
  /** Live, or answered and not yet seen by the daemon; and those of the open run that were taken back. */
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
    db.resumeToken.findMany({
      where: {
        session_id: sessionId,
        confirmed_at: null,
        OR: [{ state: { in: ["live", "consumed"] } }, { state: "revoked", run_id: session.open_run_id ?? "" }],
      },
    }),
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
  sign_in: setupOf(executor).sign_in,
  live_tokens: inState(tokens, "live"),
  revoked_tokens: inState(tokens, "revoked"),
})

const inState = (tokens: readonly ResumeToken[], state: string) =>
  tokens.filter((token) => token.state === state).map(({ id, request_id }) => ({ id, request_id }))

/** What the agents themselves keep of the session's conversation and of those in its tabs: it goes where the workspace goes. */
export async function agentMemoryOf(
  { agents, db }: { agents: AgentRegistry; db: Database },
  { session, executor }: Pick<LoadedSession, "session" | "executor">,
): Promise<{ agent_files: AgentFile[]; agent_exports: CarriedConversation[]; agent_imports: CarriedConversation[] }> {
  const tabs = await db.worker.findMany({ where: { session_id: session.id, closed_at: null, conversation_id: { not: null } } })
  const conversations = [
    { agent: session.agent, id: executor.resume_token },
    ...tabs.map(({ agent, conversation_id }) => ({ agent: agent ?? "", id: conversation_id })),
  ].flatMap(({ agent, id }) => (id === null ? [] : [{ agent, id }]))
  const carried = await Promise.all(conversations.map(({ agent, id }) => agents.carried(agent, id)))
  return {
    agent_files: conversations.flatMap(({ agent, id }) => agents.sessionFiles(agent, id, executor.workspace_path)),
    agent_exports: carried.flatMap((one) => (one ? [one.exports] : [])),
    agent_imports: carried.flatMap((one) => (one ? [one.imports] : [])),
  }
}

import type { AgentFile } from "../../lib/contracts/agentctl/archive"
import type { AgentId } from "../../lib/contracts/task"

export type TerminalCommand = { file: string; args: string[]; env: Record<string, string> }

/** An agent people can choose: how it is started, and what it is said to manage when it has to come back. */
export type AgentDefinition = {
  id: AgentId
  name: string
  description: string
  /** Null: it does not speak the Agent Client Protocol on stdio. */
  command: { program: string; args: readonly string[] } | null
  env: Readonly<Record<string, string>>
  /** How it runs in a terminal: beginning a conversation, or going on with the one this tab had. Null: it does not. */
  terminal: ((tab: { worker_id: string; continue: boolean }) => TerminalCommand) | null
  /** Declared until the live agent's `initialize` has answered; then its answer counts. */
  native_session_resume: boolean
  history_context_injection: boolean
  /** Its own files of one conversation on the daemon's host, to be kept in the workspace's archive. Credentials are never among them. */
  session_files(agentSessionId: string, place: { data_dir: string }): AgentFile[]
}

import type { AgentFile } from "../../lib/contracts/agentctl/archive"
import type { ConversationTraces } from "../../lib/contracts/agentctl/ptys"
import type { AgentId } from "../../lib/contracts/task"

export type TerminalCommand = { file: string; args: string[]; env: Record<string, string> }
export type Program = { program: string; args: readonly string[] }

/**
 * What its own command line takes in a terminal. `{id}` stands for the tab's conversation, `{from}` for the one that a fork copies. An
 * agent that is given no `{id}` to begin with names its conversations itself.
 */
export type TerminalProgram = Program & {
  begin: readonly string[]
  /** Null: it cannot be told which conversation to go on with. */
  again: readonly string[] | null
  /** Goes on with the newest conversation of the folder, whoever held it. */
  newest: readonly string[] | null
  fork: readonly string[] | null
  /** Of one that names its conversations itself: what makes one to begin with. It prints the name; `input` is what it reads from `{file}`. */
  make?: { args: readonly string[]; says: RegExp; input?: (workspace: string) => string }
  /** Of one that names its conversations itself: what lists them, where a copy's name shows. */
  list?: { args: readonly string[]; read: (output: string) => { id: string; folder: string; begun_at: number }[] }
  /** What it takes for a name; a UUID unless it has its own form. */
  newId?: () => string
  /** Of one that names its conversations itself: where it shows which one it is in. */
  traces?: (place: AgentPlace) => ConversationTraces
}

/** The form of most agents' names for conversations. */
export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
/** Of an agent whose form is not known: one word that is neither an option of its command line nor a path. */
const ONE_WORD = /^[A-Za-z0-9][A-Za-z0-9_:-]{0,199}$/

/** Where an agent keeps its own files: on the daemon's host, for this workspace. */
export type AgentPlace = { data_dir: string; home: string; env: Readonly<Record<string, string>>; workspace: string | null }

/** What an agent's own words mean for the session. Null: nothing in particular. */
export type Trouble = "unknown_session" | "sign_in_needed" | "rate_limited" | "context_too_long"

/** An agent people can choose: how it is started, and what it is said to manage when it has to come back. */
export type AgentDefinition = {
  id: AgentId
  name: string
  description: string
  /** Null: it does not speak the Agent Client Protocol on stdio. */
  acp: Program | null
  /** Null: it does not run in a terminal. */
  terminal: TerminalProgram | null
  env: Readonly<Record<string, string>>
  /** From npm, at a version that was tried; what brings its programs to a machine that has none. */
  packages: readonly { name: string; version: string }[]
  /** Those of its packages, or of what they depend on, whose install scripts it needs. No other package runs one. */
  install_scripts: readonly string[]
  /** The variables people set to sign it in without its own screen. */
  keys: readonly string[]
  /** Declared until the live agent's `initialize` has answered; then its answer counts. */
  native_session_resume: boolean
  history_context_injection: boolean
  /**
   * The form of its names for conversations. A name of any other form is never used: it may come from an import or from a file that
   * an agent wrote, and becomes a word of a command line and part of a path.
   */
  conversation: RegExp
  /** Its own files of one conversation, to be kept in the workspace's archive. Credentials are never among them. */
  session_files: (agentSessionId: string, place: AgentPlace) => AgentFile[]
  /** Of one that keeps its conversations in a database: its commands that write one to their output, and read it from `{file}`. */
  carries: { exports: (agentSessionId: string) => string[]; imports: readonly string[] } | null
  /** Words of its own, looked at before the ones that agents have in common. */
  trouble: readonly { says: RegExp; means: Trouble }[]
}

type Optional =
  | "conversation"
  | "env"
  | "packages"
  | "install_scripts"
  | "keys"
  | "session_files"
  | "carries"
  | "trouble"
  | "terminal"
  | "acp"

/** What most agents have in common; each file says only what is its own. */
export const defineAgent = (definition: Omit<AgentDefinition, Optional> & Partial<Pick<AgentDefinition, Optional>>): AgentDefinition => ({
  acp: null,
  terminal: null,
  env: {},
  packages: [],
  install_scripts: [],
  keys: [],
  conversation: ONE_WORD,
  session_files: () => [],
  carries: null,
  trouble: [],
  ...definition,
})

/** Its own files of a conversation; none of a name that is not of its form. */
export const sessionFilesOf = (agent: AgentDefinition, agentSessionId: string, place: AgentPlace): AgentFile[] =>
  agent.conversation.test(agentSessionId) ? agent.session_files(agentSessionId, place) : []

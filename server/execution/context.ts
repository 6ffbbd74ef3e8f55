import type { RestoreProgress } from "../../lib/contracts/restore"
import type { AgentRegistry, McpServers } from "../agents"
import type { ArchiveStore } from "../archive"
import type { AgentctlClient, Executors } from "../executors"
import type { GitCredentials } from "../git-credentials"
import type { Change, Journal } from "../journal"
import type { Clock } from "../platform/clock"
import type { Database } from "../platform/database"
import type { Logger } from "../platform/logger"
import type { Minted } from "../resume-tokens"
import type { Owned } from "./ownership"
import type { SpoolReader } from "./spool-reader"

export type ExecutionDeps = {
  journal: Journal
  db: Database
  clock: Clock
  logger: Logger
  executors: Executors
  agents: AgentRegistry
  /** Those that every agent is given with its conversation. */
  mcpServers: McpServers
  gitCredentials: Pick<GitCredentials, "forUrl">
  boot_id: string
  data_dir: string
  mint: () => Minted
  /** Where expired workspaces are kept, and how large one may be. */
  archives: { store: ArchiveStore; max_bytes: number }
  onRestoreProgress: (userId: string, progress: RestoreProgress) => void
  /** How often a resume that may succeed by itself is tried again. */
  max_retries: number
  /** How many agents may run at this server's place at a time. */
  max_running_agents: number
  /** The task of these users is shown differently now; the journal does not tell why. */
  announce: (userId: string, taskId: number) => void
  /** Asks the server that owns a session to act upon it. */
  askOwner: (sessionId: string, ask: { wake: boolean; fresh: boolean; sign_in: string | null }) => void
  /** May this user start anything in this runtime? Asked before each start and delivery: a role may change while messages wait. */
  mayRun: (userId: string, runtime: string) => Promise<boolean>
  /** Is this boot's server still there? A boot that is not has lost its sessions. */
  isBootAlive: (bootId: string) => Promise<boolean>
  /** Is a server up at this place, whoever owns its sessions? */
  isPlaceServed: (placeId: string) => Promise<boolean>
  /** What a claim of another boot's session commits with it; null while that boot's server may be alive. */
  takeOverFrom: (bootId: string) => Promise<Change[] | null>
}

/** What this server holds in memory of a session it owns. Everything here can be rebuilt; nothing here is the truth. */
export type Live = {
  owned: Owned
  reader: SpoolReader | null
  /** What became of it when it came to this server is told: once, by whichever try at it succeeds, the first or a later one. */
  accounted: boolean
  /** The daemon lives but does not answer: shown, waited for, never acted upon. */
  silent: boolean
  /** A person no longer wants the wake-up that is under way. */
  cancelled: boolean
  /** Ends the agent that a person is signing in, which may take as long as they do. */
  stopSigningIn: (() => Promise<unknown>) | null
  /** An archive is being unpacked for this session. */
  restoring: RestoreProgress | null
  retry: NodeJS.Timeout | null
  /** It was undecided when this server started: asked once it is decided whether its agent is wanted back. */
  whenDecided: (() => Promise<boolean>) | null
  retries: number
}

export type Attached = { client: AgentctlClient; reader: SpoolReader }

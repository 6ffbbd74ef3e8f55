import type { SystemStatus } from "./admin"
import type { AgentRegistry, McpServers } from "./agents"
import type { Attachments } from "./attachments"
import type { ApiTokens, Caller, Credentials, People, SignInLimit } from "./auth"
import type { GitCredentials } from "./git-credentials"
import type { Config } from "./platform/config"
import type { Database } from "./platform/database"
import type { Logger } from "./platform/logger"
import type { Gateway } from "./realtime"
import type { Boot } from "./recovery"
import type { Sessions } from "./sessions"
import type { Transfer } from "./transfer"
import type { Workers } from "./workers"
import type { Workspace } from "./workspace"

/** The running set. Types only: Next must never bundle a second coordinator, a driver or a daemon client. */
export type Services = {
  config: Config
  db: Database
  logger: Logger
  boot: Boot
  agents: AgentRegistry
  mcpServers: McpServers
  gitCredentials: GitCredentials
  people: People
  tokens: ApiTokens
  signInLimit: SignInLimit
  attachments: Attachments
  sessions: Sessions
  transfer: Transfer
  workers: Workers
  workspace: Workspace
  admin: SystemStatus
  gateway: Gateway
  currentUser: (credentials: Credentials) => Promise<Caller | null>
  publicUrl: () => string
  /** The code of the one-time link; null once the first admin exists. */
  setupCode: () => string | null
  firstAdminMade: () => void
  isReady: () => boolean
  metrics: () => Promise<{ contentType: string; text: string }>
}

const key = Symbol.for("rewake.services")
type Holder = { [key]?: Services }

export const publishServices = (services: Services): void => {
  ;(globalThis as Holder)[key] = services
}
/** The server, a route and a page each load their own copy of this file; only globalThis is shared. */
export function getServices(): Services {
  const services = (globalThis as Holder)[key]
  if (!services) throw new Error("the server has not been started")
  return services
}

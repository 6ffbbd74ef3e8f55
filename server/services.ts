import type { AppError } from "../lib/contracts/errors"
import type { Scope } from "../lib/contracts/people"
import type { SystemStatus } from "./admin"
import type { AgentRegistry, McpServers } from "./agents"
import type { Attachments } from "./attachments"
import type { Audit, Trail } from "./audit"
import type {
  ApiTokens,
  Caller,
  Credentials,
  Identities,
  Invitations,
  People,
  Person,
  RateLimits,
  RuntimeAccess,
  SignInLimit,
  SignIns,
} from "./auth"
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
  audit: Audit
  gitCredentials: GitCredentials
  people: People
  invitations: Invitations
  identities: Identities
  tokens: ApiTokens
  signIns: SignIns
  signInLimit: SignInLimit
  rateLimits: RateLimits
  runtimeAccess: RuntimeAccess
  attachments: Attachments
  sessions: Sessions
  transfer: Transfer
  workers: Workers
  workspace: Workspace
  admin: SystemStatus
  gateway: Gateway
  currentUser: (credentials: Credentials) => Promise<Caller | null>
  signInWithPassword: (
    given: { email: string; password: string; address: string; user_agent: string; device: string | null },
    trail: Trail,
  ) => Promise<{ person: Person; sign_in: string } | null>
  endSignIn: (which: { user_id: string; sign_in: string }, address: string) => Promise<void>
  /** Rights, sign-ins or tokens changed: sockets are closed and work is stopped, here and on the other servers. Returns at once. */
  accessChanged: () => void
  /** What a token made by this caller may have at most. */
  mostOf: (caller: Caller) => { scopes: readonly Scope[]; expires_at: string | null }
  cookieSettings: () => { secret: string; secure: boolean }
  publicUrl: () => string
  /** The code of the one-time link; null once the first admin exists. */
  setupCode: () => string | null
  firstAdminMade: () => void
  /** Why nothing can be served now; null when it can. */
  whyNotReady: () => Promise<AppError | null>
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

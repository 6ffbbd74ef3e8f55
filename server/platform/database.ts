import { DURATIONS } from "../../lib/host/durations"
import type {
  AgentVariable,
  ApiToken,
  Archive,
  Attachment,
  AuditEvent,
  Boot,
  CustomAgent,
  ExecutorRunning,
  GitCredential,
  Identity,
  Invitation,
  McpServer,
  PasswordReset,
  Prompt,
  RecoveryReport,
  ResumeToken,
  ReviewComment,
  Session,
  SessionEvent,
  Setting,
  SignIn,
  PrismaClient as SqliteClient,
  Task,
  User,
  Worker,
} from "../../prisma/generated/sqlite/client"
import type { Config } from "./config"

export type {
  ApiToken,
  Archive,
  AuditEvent as AuditRow,
  Boot,
  ExecutorRunning,
  Invitation,
  Prompt,
  RecoveryReport,
  ResumeToken,
  ReviewComment,
  Session,
  SessionEvent as EventRow,
  SignIn,
  Task,
  User,
  Worker,
}

/** Table name → its row, for changes that travel to the writer. */
export type Tables = {
  users: User
  invitations: Invitation
  api_tokens: ApiToken
  password_resets: PasswordReset
  sign_ins: SignIn
  identities: Identity
  audit_events: AuditEvent
  settings: Setting
  custom_agents: CustomAgent
  agent_variables: AgentVariable
  mcp_servers: McpServer
  git_credentials: GitCredential
  boots: Boot
  tasks: Task
  sessions: Session
  session_events: SessionEvent
  prompts: Prompt
  resume_tokens: ResumeToken
  executors_running: ExecutorRunning
  workers: Worker
  review_comments: ReviewComment
  archives: Archive
  attachments: Attachment
  recovery_reports: RecoveryReport
}

type WriteMethod =
  | "create"
  | "createMany"
  | "createManyAndReturn"
  | "update"
  | "updateMany"
  | "updateManyAndReturn"
  | "upsert"
  | "delete"
  | "deleteMany"
type ReadOnly<M> = Omit<M, WriteMethod>
/**
 * Reads only. On SQLite a write from here would take the write lock on the event loop's own thread and stop the server for an
 * fsync; and a row changed behind the journal's back could not be rebuilt from the log. Writes go through `server/journal`.
 */
export type Database = {
  [M in
    | "user"
    | "invitation"
    | "apiToken"
    | "passwordReset"
    | "signIn"
    | "identity"
    | "auditEvent"
    | "setting"
    | "customAgent"
    | "agentVariable"
    | "mcpServer"
    | "gitCredential"
    | "boot"
    | "task"
    | "session"
    | "sessionEvent"
    | "prompt"
    | "resumeToken"
    | "executorRunning"
    | "worker"
    | "reviewComment"
    | "archive"
    | "attachment"
    | "recoveryReport"]: ReadOnly<SqliteClient[M]>
} & Pick<SqliteClient, "$disconnect" | "$queryRaw" | "$queryRawUnsafe">

/**
 * A connection that was cut without a word would otherwise be waited for until the kernel gives it up. A read may take longer than a
 * write: it looks through much, and holds nobody up.
 */
const TIME_LIMITS = { connectionTimeoutMillis: DURATIONS.callMs, query_timeout: 15_000, keepAlive: true }

/** Each client brings its own query compiler; only the one that is used is loaded. */
export async function openDatabase(config: Config["database"]): Promise<Database> {
  switch (config.kind) {
    case "sqlite": {
      const [{ PrismaClient }, { PrismaBetterSqlite3 }] = await Promise.all([
        import("../../prisma/generated/sqlite/client"),
        import("@prisma/adapter-better-sqlite3"),
      ])
      return new PrismaClient({ adapter: new PrismaBetterSqlite3({ url: `file:${config.file}`, timeout: 10_000 }) })
    }
    case "postgresql": {
      const [{ PrismaClient }, { PrismaPg }] = await Promise.all([
        import("../../prisma/generated/postgresql/client"),
        import("@prisma/adapter-pg"),
      ])
      // One schema, two generated clients of the same shape; the code is typed against the first.
      return new PrismaClient({ adapter: new PrismaPg({ connectionString: config.url, ...TIME_LIMITS }) }) as unknown as Database
    }
  }
}

import { randomBytes } from "node:crypto"
import { accessSync, constants, existsSync, mkdirSync, readFileSync } from "node:fs"
import { homedir, totalmem } from "node:os"
import { dirname, join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { z } from "zod"
import { writePrivateFile } from "../../lib/host/write-private-file"
import { parseProxies } from "./client-address"
import { LOOPBACK_NAMES } from "./gate"
import { withoutNpm } from "./without-npm"

/** The only reader of the environment. Parsed once at start; what is wrong is told by name, all of it at once. */

const hours = (fallback: number) => z.coerce.number().positive().default(fallback)
const count = (fallback: number) => z.coerce.number().int().positive().default(fallback)

const SECRET_MIN_LENGTH = 16
const SECRETS_FORM = `must have at least ${SECRET_MIN_LENGTH} characters; several secrets are separated by spaces, each as long`

/** The first seals and signs; the others, from before, still open and verify. */
type Secrets = readonly [string, ...string[]]
function secretsIn(text: string): Secrets | null {
  const [first, ...older] = text.split(/\s+/).filter(Boolean)
  if (first === undefined || [first, ...older].some((secret) => secret.length < SECRET_MIN_LENGTH)) return null
  return [first, ...older]
}

/** What an agent with its tools needs, as measured with the larger ones. */
const BYTES_OF_AN_AGENT = 400_000_000
/** The rest is for this server, agentctl, and what agents build and run. */
const AGENTS_SHARE = 0.6
const FEWEST_AGENTS = 4
export const agentsInMemory = (bytes: number) => Math.max(FEWEST_AGENTS, Math.floor((bytes * AGENTS_SHARE) / BYTES_OF_AN_AGENT))

/** A container may have less than its machine; without a limit of its own it answers 0 or a number beyond any memory. */
function memoryBytes(): number {
  const limit = process.constrainedMemory()
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem()
}

const Variables = z.object({
  PORT: z.coerce.number().int().min(0).max(65535).default(3000),
  HOST: z.string().default("127.0.0.1"),
  PUBLIC_URL: z.url().optional(),
  DATA_DIR: z.string().default("./data"),
  DATABASE_URL: z
    .string()
    .regex(/^(postgres(ql)?:\/\/|file:)/, "must start with postgresql:// or file:")
    .optional(),
  REDIS_URL: z.string().optional(),
  ARCHIVE_URL: z
    .string()
    .regex(/^(s3:\/\/[a-z0-9][a-z0-9.-]+(\/[^?#]*)?|file:\/\/\/.*|\/.*)$/, "must be s3://bucket/prefix or an absolute folder")
    .optional(),
  S3_ENDPOINT: z.url().optional(),
  S3_REGION: z.string().optional(),
  AWS_ACCESS_KEY_ID: z.string().optional(),
  AWS_SECRET_ACCESS_KEY: z.string().optional(),
  AUTH_SECRET: z
    .string()
    .refine((text) => secretsIn(text) !== null, SECRETS_FORM)
    .optional(),
  TRUSTED_PROXIES: z.string().default(""),
  OIDC_ISSUER: z.url().optional(),
  OIDC_CLIENT_ID: z.string().optional(),
  OIDC_CLIENT_SECRET: z.string().optional(),
  OIDC_DOMAINS: z.string().default(""),
  ADMIN_EMAIL: z.email().optional(),
  ADMIN_PASSWORD: z.string().min(10).optional(),
  WORKSPACE_ROOTS: z.string().optional(),
  MAX_MESSAGE_BYTES: count(262_144),
  QUEUE_MAX: count(50),
  MAX_RUNNING_AGENTS: count(agentsInMemory(memoryBytes())),
  AGENTCTL_ORPHAN_HOURS: hours(72),
  WAIT_DEADLINE_HOURS: hours(72),
  AUTO_RESUME: z.enum(["off", "active", "all"]).default("active"),
  AUTO_RESUME_WINDOW_HOURS: hours(24),
  AUTO_RESUME_CONCURRENCY: count(4),
  MAX_ERROR_SUBTYPE_RETRIES: z.coerce.number().int().min(0).default(3),
  APPEND_CHAT_TASK_EXPIRE_HOURS: hours(2),
  APPEND_CODE_TASK_EXPIRE_HOURS: hours(24),
  REAPER_INTERVAL_SECONDS: count(60),
  ARCHIVE_MAX_BYTES: count(2 * 1024 ** 3),
  ARCHIVE_FORCE_DELETE_DAYS: z.coerce.number().positive().optional(),
  AGENTS_FILE: z.string().optional(),
  DEMO_AGENTS: z.enum(["on", "off"]).default("on"),
  LOG_LEVEL: z.enum(["debug", "info", "warn", "error", "silent"]).default("info"),
  REWAKE_DEV: z.literal("1").optional(),
})

/** Names the product reads, and next-auth's own: agents and shells get the user's environment without any of these. */
const OURS = new Set([...Object.keys(Variables.shape), "NEXTAUTH_URL", "NEXTAUTH_SECRET", "NODE_ENV"])

const AUTH_SECRET_FILE = "auth-secret"

export class ConfigError extends Error {}

export type Config = ReturnType<typeof readConfig>

export function readConfig(env: NodeJS.ProcessEnv = process.env) {
  const blankAsMissing = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ""))
  const parsed = Variables.safeParse(blankAsMissing)
  if (!parsed.success) {
    throw new ConfigError(parsed.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`).join("\n"))
  }
  const v = parsed.data
  const data_dir = resolve(v.DATA_DIR)
  makeDataDir(data_dir)
  const postgres = v.DATABASE_URL !== undefined && !v.DATABASE_URL.startsWith("file:")
  if (postgres && !v.AUTH_SECRET) throw new ConfigError("AUTH_SECRET: required with PostgreSQL, so that every server signs alike")
  if (Boolean(v.ADMIN_EMAIL) !== Boolean(v.ADMIN_PASSWORD)) throw new ConfigError("ADMIN_EMAIL and ADMIN_PASSWORD: set both or neither")
  if (Boolean(v.AWS_ACCESS_KEY_ID) !== Boolean(v.AWS_SECRET_ACCESS_KEY))
    throw new ConfigError("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY: set both or neither")

  return Object.freeze({
    port: v.PORT,
    host: v.HOST,
    public_url: v.PUBLIC_URL?.replace(/\/+$/, "") ?? null,
    data_dir,
    database: postgres
      ? ({ kind: "postgresql", url: v.DATABASE_URL as string } as const)
      : ({ kind: "sqlite", file: v.DATABASE_URL ? resolve(v.DATABASE_URL.slice("file:".length)) : join(data_dir, "rewake.db") } as const),
    auth_secrets: v.AUTH_SECRET ? (secretsIn(v.AUTH_SECRET) as Secrets) : keptSecrets(join(data_dir, AUTH_SECRET_FILE)),
    /** Where the secret is kept; null where the environment brings it. */
    auth_secret_file: v.AUTH_SECRET ? null : join(data_dir, AUTH_SECRET_FILE),
    trusted_proxies: trustedProxies(v.TRUSTED_PROXIES),
    oidc: oidcProvider(v),
    admin: v.ADMIN_EMAIL && v.ADMIN_PASSWORD ? { email: v.ADMIN_EMAIL.toLowerCase(), password: v.ADMIN_PASSWORD } : null,
    workspace_roots: (v.WORKSPACE_ROOTS?.split(":") ?? [homedir()]).filter(Boolean).map((root) => resolve(root)),
    max_message_bytes: v.MAX_MESSAGE_BYTES,
    queue_max: v.QUEUE_MAX,
    max_running_agents: v.MAX_RUNNING_AGENTS,
    agentctl_orphan_hours: v.AGENTCTL_ORPHAN_HOURS,
    wait_deadline_hours: v.WAIT_DEADLINE_HOURS,
    max_retries: v.MAX_ERROR_SUBTYPE_RETRIES,
    auto_resume: { mode: v.AUTO_RESUME, window_hours: v.AUTO_RESUME_WINDOW_HOURS, concurrency: v.AUTO_RESUME_CONCURRENCY },
    chat_expire_hours: v.APPEND_CHAT_TASK_EXPIRE_HOURS,
    code_expire_hours: v.APPEND_CODE_TASK_EXPIRE_HOURS,
    archive: archiveStore(v, data_dir),
    archive_max_bytes: v.ARCHIVE_MAX_BYTES,
    archive_force_delete_days: v.ARCHIVE_FORCE_DELETE_DAYS ?? null,
    reaper_interval_seconds: v.REAPER_INTERVAL_SECONDS,
    agents_file: v.AGENTS_FILE ? resolve(v.AGENTS_FILE) : join(data_dir, "agents.json"),
    demo_agents: v.DEMO_AGENTS === "on",
    log_level: v.LOG_LEVEL,
    dev: v.REWAKE_DEV === "1",
    /** What daemons, agents and shells inherit. */
    child_env: Object.fromEntries(Object.entries(withoutNpm(env)).filter(([name]) => !OURS.has(name))),
  })
}

function archiveStore(v: z.infer<typeof Variables>, dataDir: string) {
  const url = v.ARCHIVE_URL
  if (!url?.startsWith("s3:")) {
    const folder = !url ? join(dataDir, "archives") : url.startsWith("file:") ? fileURLToPath(url) : url
    return { kind: "folder", folder: resolve(folder) } as const
  }
  const [bucket = "", ...prefix] = url.slice("s3://".length).split("/")
  return {
    kind: "s3",
    bucket,
    prefix: prefix.filter(Boolean).join("/"),
    endpoint: v.S3_ENDPOINT ?? null,
    region: v.S3_REGION ?? "us-east-1",
    /** Null: the SDK looks where AWS puts them, a role of the machine for example. */
    credentials:
      v.AWS_ACCESS_KEY_ID && v.AWS_SECRET_ACCESS_KEY
        ? { accessKeyId: v.AWS_ACCESS_KEY_ID, secretAccessKey: v.AWS_SECRET_ACCESS_KEY }
        : null,
  } as const
}

function trustedProxies(list: string) {
  try {
    return parseProxies(list)
  } catch (error) {
    throw new ConfigError(`TRUSTED_PROXIES: ${(error as Error).message}`)
  }
}

function oidcProvider(v: z.infer<typeof Variables>) {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: client_id, OIDC_CLIENT_SECRET: client_secret } = v
  if (!issuer && !client_id && !client_secret) return null
  if (!issuer || !client_id || !client_secret)
    throw new ConfigError("OIDC_ISSUER, OIDC_CLIENT_ID and OIDC_CLIENT_SECRET: set all of them or none")
  const { protocol, hostname } = new URL(issuer)
  if (protocol !== "https:" && !LOOPBACK_NAMES.includes(hostname))
    throw new ConfigError("OIDC_ISSUER: must be an https address; over http anybody on the way could sign in as anybody")
  const domains = v.OIDC_DOMAINS.split(",").map((domain) => domain.trim().toLowerCase().replace(/^@/, ""))
  return { issuer: issuer.replace(/\/+$/, ""), client_id, client_secret, domains: domains.filter(Boolean) }
}

function makeDataDir(dir: string) {
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 })
    mkdirSync(join(dir, "run"), { recursive: true, mode: 0o700 })
    accessSync(dir, constants.W_OK)
    accessSync(join(dir, "run"), constants.W_OK)
  } catch (cause) {
    throw cannotWrite(dir, cause)
  }
}

function cannotWrite(dir: string, cause: unknown): ConfigError {
  const code = (cause as NodeJS.ErrnoException).code ?? "error"
  if (code === "ENOSPC" || code === "EDQUOT")
    return new ConfigError(`DATA_DIR: the disk of ${dir} is full. Free some space, then try again.`, { cause })
  return new ConfigError(`DATA_DIR: cannot write to ${dir} (${code})`, { cause })
}

/** Losing this file signs everybody out and makes open questions unanswerable, so it is written once and kept. */
function keptSecrets(file: string): Secrets {
  try {
    if (!existsSync(file)) writePrivateFile(file, randomBytes(32).toString("base64url"))
  } catch (cause) {
    throw cannotWrite(dirname(file), cause)
  }
  const secrets = secretsIn(readFileSync(file, "utf8"))
  if (!secrets) throw new ConfigError(`${file}: ${SECRETS_FORM}`)
  return secrets
}

/** next-auth reads its address from the environment and from nowhere else. */
export function publishToNextAuth(publicUrl: string, secret: string, env: NodeJS.ProcessEnv = process.env) {
  env.NEXTAUTH_URL = publicUrl
  env.NEXTAUTH_SECRET = secret
}

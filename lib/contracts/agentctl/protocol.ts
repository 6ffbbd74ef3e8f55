import { z } from "zod"
import { AgentSetup, AgentUsage, OptionValues, RefusedOption } from "../agent-setup"
import { AgentCapabilities, PlanEntry, ToolCallFields, ToolUpdateFields } from "../events"
import { Sha256 } from "../ids"
import { Outcome, WaitOption } from "../waits"
import { AgentFile } from "./agent-file"

/**
 * The wire between the server and agentctl. A newer server must be able to adopt an older daemon:
 * add optional fields, raise PROTOCOL_VERSION only when an older reader would be wrong.
 */
export const PROTOCOL_VERSION = 1

/** Every changing call carries the caller's session epoch; the daemon refuses one lower than it has seen (409 FENCED). */
export const EPOCH_HEADER = "x-rewake-epoch"

/** `DATA_DIR/run/agentctl.json`, 0600: how a server finds the daemon of this folder. `start_time` guards against reused pids. */
export const AgentctlFile = z.object({
  pid: z.number().int(),
  start_time: z.string(),
  endpoint: z.string(),
  instance_id: z.string(),
  secret: z.string(),
  protocol: z.number().int(),
  build: z.string(),
})
export type AgentctlFile = z.infer<typeof AgentctlFile>

export const Health = z.object({
  protocol: z.number().int(),
  instance_id: z.string(),
  started_at: z.string(),
  pid: z.number().int(),
  build: z.string(),
  sessions: z.number().int(),
})
export type Health = z.infer<typeof Health>

export const Capabilities = z.object({ supports_session_resume: z.boolean(), supports_workspace_only: z.boolean() })
export type Capabilities = z.infer<typeof Capabilities>

export const WorkspaceSpec = z.discriminatedUnion("kind", [
  /** An own folder with its own `git init`. */
  z.object({ kind: z.literal("folder"), path: z.string() }),
  /** A worktree of `repository` (a local path, or a URL cloned once into `mirror`) on its own branch. */
  z.object({
    kind: z.literal("worktree"),
    path: z.string(),
    repository: z.string(),
    mirror: z.string().nullable(),
    branch: z.string(),
  }),
])
export type WorkspaceSpec = z.infer<typeof WorkspaceSpec>

/** For the host of a worktree's repository. A secret: given to the one git command that clones or fetches, and kept nowhere. */
export const GitCredential = z.object({ protocol: z.enum(["http", "https"]), host: z.string(), username: z.string(), secret: z.string() })
export type GitCredential = z.infer<typeof GitCredential>

/** PUT /sessions/{id}: makes spool and workspace if they are missing; repeating it changes nothing. */
export const PutSession = z.object({ generation: z.number().int(), workspace: WorkspaceSpec, git_credential: GitCredential.optional() })
export type PutSession = z.infer<typeof PutSession>

/**
 * PUT /sessions/{id}/generation: a person has given up what ran here under a lower one. Its agent is ended before the answer;
 * from then on a lower generation is refused (409 GENERATION_STALE), also after a restart of the daemon.
 */
export const PutGeneration = z.object({ generation: z.number().int() })

/**
 * What an agent showed of its memory when it came back: how many updates of its conversation it repeated, or whether it names the
 * conversation among its own. Absent where it shows nothing, and from daemons that do not look.
 */
export const Recollection = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("replay"), updates: z.number().int() }),
  z.object({ kind: z.literal("list"), listed: z.boolean() }),
])
export type Recollection = z.infer<typeof Recollection>

export const AgentState = z.object({
  agent_execution_id: z.string(),
  state: z.enum(["starting", "ready", "exited"]),
  pid: z.number().int().nullable(),
  agent_session_id: z.string().nullable(),
  capabilities: AgentCapabilities.nullable(),
  /** Until it is prompted: a server that dies before it has judged this leaves it to the next. */
  recollection: Recollection.optional(),
})

/** GET /sessions/{id} and the answer to PUT: what the daemon holds of this session now. */
export const DaemonSession = z.object({
  session_id: z.string(),
  spool_id: z.string(),
  /** The newest record that is on disk; what the server has not read lies between its cursor and this. */
  head: z.number().int(),
  epoch: z.number().int(),
  /** Absent from a daemon that cannot be told of it. */
  generation: z.number().int().optional(),
  workspace_path: z.string(),
  worktree_branch: z.string().nullable(),
  agent: AgentState.nullable(),
  run: z.object({ run_id: z.string(), prompt_id: z.string() }).nullable(),
  pending_permissions: z.array(z.string()),
})
export type DaemonSession = z.infer<typeof DaemonSession>

/** Given to an agent with its conversation. The values are secrets: they are passed on and kept nowhere. */
export const McpServer = z.discriminatedUnion("transport", [
  z.object({
    transport: z.literal("stdio"),
    name: z.string(),
    command: z.string(),
    args: z.array(z.string()),
    env: z.record(z.string(), z.string()),
  }),
  z.object({ transport: z.enum(["http", "sse"]), name: z.string(), url: z.string(), headers: z.record(z.string(), z.string()) }),
])
export type McpServer = z.infer<typeof McpServer>

/**
 * PUT /sessions/{id}/agent: answers when the agent is ready or has failed to start. The same `agent_execution_id` again joins
 * the first call. `continue` tries session/resume, else session/load, with that id; a refused id fails with AGENT_SESSION_REJECTED
 * and never falls back to a new conversation by itself. `resolve` continues the conversation this place knows: the one in the
 * session's `.claude_session_id` file, else the one remembered for `task_id:bot_id`, else (or with `new_session`) it begins a new
 * one; what is found and then refused fails like `continue`.
 */
export const PutAgent = z.object({
  agent_execution_id: z.string(),
  command: z.string(),
  args: z.array(z.string()),
  env: z.record(z.string(), z.string()),
  start: z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("new") }),
    z.object({ kind: z.literal("continue"), agent_session_id: z.string() }),
    z.object({ kind: z.literal("resolve"), task_id: z.string(), bot_id: z.string(), new_session: z.boolean() }),
  ]),
  /** The agent's own files of the conversation it is to go on with: examined and copied before it touches them. */
  session_files: z.array(AgentFile).optional(),
  /** Set before it is announced, on whatever way it came; what it refuses is in the answer. */
  options: OptionValues.optional(),
  /** Given with a new conversation, and again with one that is taken up. */
  mcp_servers: z.array(McpServer).optional(),
  /** The way of signing in that a person chose; the answer may take as long as they do. */
  sign_in: z.string().optional(),
})
export type PutAgent = z.infer<typeof PutAgent>

export const PutAgentAnswer = z.object({
  strategy: z.enum(["new", "loaded", "resumed"]),
  agent_session_id: z.string(),
  capabilities: AgentCapabilities,
  pid: z.number().int().nullable(),
  /** Where a `resolve` found the conversation. */
  resolved_from: z.enum(["file", "task_and_bot", "new"]).optional(),
  recollection: Recollection.optional(),
  /** What was found in the agent's own session files before it took them up, in words for a person. */
  transcript_findings: z.array(z.string()).optional(),
  refused_options: z.array(RefusedOption).optional(),
})
export type PutAgentAnswer = z.infer<typeof PutAgentAnswer>

/**
 * PUT /sessions/{id}/attachments/{sha256}?name=: the bytes themselves, kept beside the spool for as long as the session lives;
 * repeating it changes nothing. A daemon that does not know the call answers NOT_FOUND, before any prompt is on its way.
 */
export const AttachmentName = z.string().min(1).max(1000)

/**
 * PUT /sessions/{id}/prompts/{prompt_id}: at most once per id, for ever; a repeat answers `duplicate: true` and does nothing.
 * `body_sha256` covers text and attachments. Attachments were put before.
 */
export const PutPrompt = z.object({
  spool_id: z.string(),
  run_id: z.string(),
  content: z.string(),
  attachments: z.array(z.object({ name: AttachmentName, mime_type: z.string(), sha256: Sha256 })).optional(),
  body_sha256: z.string(),
})
export type PutPrompt = z.infer<typeof PutPrompt>
export const PutPromptAnswer = z.object({ accepted: z.literal(true), duplicate: z.boolean() })

/** PUT /sessions/{id}/options: sets the live agent; what is in force then is spooled before the answer. */
export const PutOptions = z.object({ options: OptionValues })
export const PutOptionsAnswer = z.object({ refused: z.array(RefusedOption) })

/** PUT /sessions/{id}/permissions/{permission_id}: the same outcome again is accepted; the first one stands. */
export const PutPermission = z.object({ outcome: Outcome })

/** PUT /sessions/{id}/ack: everything up to `n` is committed in the server's journal and may be cut. */
export const PutAck = z.object({ spool_id: z.string(), n: z.number().int() })

export const DAEMON_ERRORS = [
  "INVALID_INPUT",
  "UNAUTHENTICATED",
  "NOT_FOUND",
  "FENCED",
  "GENERATION_STALE",
  "SPOOL_MISMATCH",
  "SPOOL_CUT",
  "AGENT_NOT_RUNNING",
  "PTY_GONE",
  "PTY_START_FAILED",
  "AGENT_BUSY",
  "AGENT_COMMAND_NOT_FOUND",
  "AGENT_START_FAILED",
  "AGENT_SESSION_REJECTED",
  "PROMPT_MISMATCH",
  "WORKSPACE_FAILED",
  "WORKSPACE_MISSING",
  "WORKSPACE_EXISTS",
  "ARCHIVE_TOO_LARGE",
  "ARCHIVE_MISSING",
  "ARCHIVE_HOSTILE",
  "ARCHIVE_BROKEN",
  "ARCHIVE_UNSUPPORTED",
  "CHECKSUM_MISMATCH",
  "FILE_CHANGED",
  "FILE_EXISTS",
  "FILE_TOO_LARGE",
  "PATH_MISSING",
  "PATH_REFUSED",
  "NO_REPOSITORY",
  "HISTORY_MISSING",
  "DISK_FULL",
  "URL_EXPIRED",
  "STORE_UNREACHABLE",
  "INTERNAL",
] as const
export type DaemonErrorCode = (typeof DAEMON_ERRORS)[number]
export const DaemonError = z.object({ code: z.enum(DAEMON_ERRORS), message: z.string() })

/* The spool: what the daemon saw, one JSON object a line, `n` counting from 1. The first line of the file is the header. */

export const SpoolHeader = z.object({ spool_id: z.string(), session_id: z.string(), created_at: z.string(), first: z.number().int() })

const base = { n: z.number().int().positive(), ts: z.string() }
const r = <K extends string, S extends z.ZodRawShape>(kind: K, shape: S) => z.object({ ...base, kind: z.literal(kind), ...shape })
const run = { run_id: z.string().nullable() }

export const SpoolRecord = z.discriminatedUnion("kind", [
  r("agent.started", {
    agent_execution_id: z.string(),
    strategy: z.enum(["new", "loaded", "resumed"]),
    pid: z.number().int().nullable(),
    capabilities: AgentCapabilities,
  }),
  r("agent.session_announced", { agent_execution_id: z.string(), agent_session_id: z.string() }),
  r("agent.exited", {
    agent_execution_id: z.string(),
    code: z.number().nullable(),
    signal: z.string().nullable(),
    /** Stopped on request, or with its daemon's predecessor. */
    cause: z.enum(["exited", "stopped", "predecessor_died"]),
    stderr_tail: z.string(),
  }),
  r("prompt.accepted", { prompt_id: z.string(), run_id: z.string(), body_sha256: z.string() }),
  /** The first after a silence goes at once, then coalesced. A new `message_id` begins when the role changes or anything else came between. */
  r("message.delta", { ...run, message_id: z.string(), role: z.enum(["agent", "thought"]), content: z.string() }),
  r("tool.call", { ...run, ...ToolCallFields.shape }),
  r("tool.update", { ...run, ...ToolUpdateFields.shape }),
  r("plan.updated", { ...run, entries: z.array(PlanEntry) }),
  r("agent.update", { ...run, update: z.unknown() }),
  r("agent.setup_announced", { setup: AgentSetup }),
  r("agent.usage_reported", { ...run, usage: AgentUsage }),
  r("permission.requested", {
    ...run,
    permission_id: z.string(),
    tool_call_id: z.string().nullable(),
    title: z.string(),
    detail: z.string().nullable(),
    options: z.array(WaitOption),
  }),
  r("permission.resolved", { permission_id: z.string(), outcome: Outcome }),
  r("turn.ended", { run_id: z.string(), prompt_id: z.string(), stop_reason: z.string() }),
  r("turn.failed", {
    run_id: z.string(),
    prompt_id: z.string(),
    reason: z.enum(["agent_error", "agent_exited", "protocol_error"]),
    message: z.string(),
  }),
  /** `kept`: its bytes can be had by GET /sessions/{id}/rejected/{sha256}, for as long as the session is here. */
  r("record.rejected", { sha256: z.string(), reason: z.string(), kept: z.boolean().optional() }),
])
export type SpoolRecord = z.infer<typeof SpoolRecord>
type Unplaced<E> = E extends SpoolRecord ? Omit<E, "n" | "ts"> : never
export type NewSpoolRecord = Unplaced<SpoolRecord>

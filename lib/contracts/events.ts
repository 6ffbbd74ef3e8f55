import { z } from "zod"
import { AgentSetup, AgentUsage, OptionValues, RefusedOption, SignInMethod } from "./agent-setup"
import { Attachment } from "./attachments"
import { ArchiveId, PromptId, WorkerId } from "./ids"
import { LeftOut } from "./left-out"
import { AgentStrategy, InterruptionReason, SessionState, SessionStatus, SurvivalLevel } from "./status"
import { Time } from "./time"
import { Outcome, WaitKind, WaitOption } from "./waits"

/**
 * Facts about a session, in the past tense: the journal's one vocabulary, flat as on the wire and in exports.
 * Changing a shape means adding a version, never editing one: old logs are read by the same code for years.
 */
const base = { session_id: z.string(), seq: z.number().int().positive(), ts: Time, v: z.literal(1) }

const run = { run_id: z.string() }
/** Output of an agent that speaks outside a turn belongs to no run. */
const maybeRun = { run_id: z.string().nullable() }

export const ToolStatus = z.enum(["pending", "in_progress", "completed", "failed", "interrupted"])
export type ToolStatus = z.infer<typeof ToolStatus>

export const ToolOutput = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), text: z.string() }),
  z.object({ type: z.literal("diff"), path: z.string(), old_text: z.string().nullable(), new_text: z.string() }),
  z.object({ type: z.literal("terminal"), terminal_id: z.string(), output: z.string(), exit_code: z.number().nullable() }),
  /** Something this version cannot show; kept so that a later one can. */
  z.object({ type: z.literal("other"), value: z.unknown() }),
])
export type ToolOutput = z.infer<typeof ToolOutput>

export const ToolCallFields = z.object({
  tool_call_id: z.string(),
  title: z.string(),
  tool_kind: z.string(),
  status: ToolStatus,
  output: z.array(ToolOutput),
  locations: z.array(z.object({ path: z.string(), line: z.number().nullish() })),
  raw_input: z.unknown().optional(),
})
export const ToolUpdateFields = ToolCallFields.partial().required({ tool_call_id: true }).extend({ raw_output: z.unknown().optional() })

export const PlanEntry = z.object({ content: z.string(), priority: z.string(), status: z.enum(["pending", "in_progress", "completed"]) })
export type PlanEntry = z.infer<typeof PlanEntry>

export const AgentCapabilities = z.object({ load: z.boolean(), resume: z.boolean() })
export type AgentCapabilities = z.infer<typeof AgentCapabilities>

/** What became of the workspace's files. */
export const ReceiptFiles = z.union([
  z.literal("kept"),
  /** `left_out`: what the archive did not hold; absent in receipts of earlier versions. */
  z.object({ archive: z.object({ sha256: z.string(), bytes: z.number(), files: z.number(), left_out: LeftOut.optional() }) }),
  z.object({ recreated: z.object({ branch: z.string() }) }),
  z.object({ lost: z.object({ paths: z.array(z.string()) }) }),
])
export type ReceiptFiles = z.infer<typeof ReceiptFiles>

const e = <K extends string, S extends z.ZodRawShape>(kind: K, shape: S) => z.object({ ...base, kind: z.literal(kind), ...shape })
const message = { message_id: z.string(), content: z.string() }
const completeMessage = {
  ...message,
  ...maybeRun,
  first_seq: z.number().int(),
  last_seq: z.number().int(),
  partial: z.boolean().optional(),
}
/** Absent where nothing was attached. */
const attached = { attachments: z.array(Attachment).optional() }
const token = { resume_token_id: z.string() }
const executor = { executor_id: z.string() }

export const SessionEvent = z.discriminatedUnion("kind", [
  e("message.user", { ...message, ...attached, prompt_id: PromptId }),
  e("message.agent", completeMessage),
  e("message.thought", completeMessage),
  e("message.delta", { ...message, ...maybeRun, role: z.enum(["agent", "thought"]) }),
  e("tool.call", { ...maybeRun, ...ToolCallFields.shape }),
  e("tool.update", { ...maybeRun, ...ToolUpdateFields.shape }),
  e("plan.updated", { ...maybeRun, entries: z.array(PlanEntry) }),

  e("prompt.queued", {
    prompt_id: PromptId,
    message_id: z.string(),
    content: z.string(),
    ...attached,
    rank: z.number(),
    client_message_id: z.string().nullable(),
  }),
  e("prompt.edited", { prompt_id: PromptId, content: z.string() }),
  e("prompt.reordered", { prompt_id: PromptId, rank: z.number() }),
  e("prompt.withdrawn", { prompt_id: PromptId }),
  /** Waits for a person's word: after an import or a restored backup it may have been delivered in a life this log does not know. */
  e("prompt.held", { prompt_id: PromptId, reason: z.string() }),
  e("prompt.released", { prompt_id: PromptId }),
  e("prompt.delivering", { prompt_id: PromptId, ...run, spool_id: z.string(), body_sha256: z.string() }),
  e("prompt.delivered", { prompt_id: PromptId, ...run }),

  e("session.state_changed", { from: SessionState.nullable(), to: SessionState, cause: z.string() }),
  /** Read from the files of another server. Nothing of its executor is here: the workspace is made anew. */
  e("session.imported", { events: z.number().int(), skipped: z.number().int() }),
  /** Goes on with the conversation of another session of the task, which is handed to its agent with the first message. */
  e("session.continued", {
    from_session_id: z.string(),
    from_agent: z.string(),
    from_seq: z.number().int(),
    from_workspace: z.string().nullable(),
  }),
  e("resume.started", { strategy: z.string() }),
  e("resume.failed", { strategy: z.string(), reason: z.string(), retryable: z.boolean() }),
  e("agent.session_retired", { agent_session_id: z.string(), reason: z.string() }),
  e("agent.session_reinstated", { agent_session_id: z.string() }),

  e("run.started", { ...run, boot_id: z.string(), prompt_id: PromptId }),
  e("run.waiting", {
    ...run,
    ...token,
    wait_kind: WaitKind,
    deadline_at: Time,
    title: z.string(),
    detail: z.string().nullable(),
    options: z.array(WaitOption),
    tool_call_id: z.string().nullable(),
  }),
  e("run.resumed", { ...run, ...token }),
  e("run.adopted", { ...run, boot_id: z.string() }),
  /** `access_lost`: nobody asked for it; the user may not run agents there any more. */
  e("run.cancel_requested", { ...run, by: z.string().nullable(), reason: z.literal("access_lost").optional() }),
  e("run.completed", { ...run, stop_reason: z.string() }),
  e("run.failed", { ...run, reason: z.string(), message: z.string() }),
  e("run.cancelled", { ...run, stop_reason: z.string() }),
  e("run.interrupted", { ...run, reason: InterruptionReason }),
  e("run.late_outcome", { ...run, outcome: z.string() }),

  e("spool.gap", { spool_id: z.string(), from: z.number().int(), to: z.number().int() }),
  /** `kept`: its bytes are beside the spool, for as long as the executor is there. */
  e("record.rejected", { sha256: z.string(), reason: z.string(), kept: z.boolean().optional() }),

  e("token.minted", { ...token, ...run, wait_kind: WaitKind, request_id: z.string(), secret_sha256: z.string(), expires_at: Time }),
  e("token.consumed", { ...token, outcome: Outcome, by: z.string() }),
  e("token.revoked", { ...token, reason: z.string() }),
  e("token.expired", token),

  e("executor.starting", { ...executor, runtime: z.string(), place_id: z.string().optional() }),
  e("executor.ready", { ...executor, agentctl_instance_id: z.string(), worktree_path: z.string(), worktree_branch: z.string().nullable() }),
  e("executor.error", { ...executor, reason: z.string(), message: z.string() }),
  e("executor.stopped", { ...executor, reason: z.string() }),
  /** Expired and about to be archived: from here on nothing is started in it. */
  e("executor.reaping", executor),
  /** Null: let go without an archive, by an admin's standing order; the files are lost. */
  e("executor.deleted", { ...executor, archive_id: ArchiveId.nullable() }),
  /** A person wants the task back; the archive is unpacked when the session wakes. Null: there is nothing to unpack. */
  e("restore.requested", { ...executor, archive_id: ArchiveId.nullable() }),

  e("agent.started", {
    agent_execution_id: z.string(),
    strategy: AgentStrategy,
    pid: z.number().int().nullable(),
    capabilities: AgentCapabilities,
  }),
  e("agent.session_announced", { agent_session_id: z.string() }),
  e("agent.exited", {
    agent_execution_id: z.string(),
    code: z.number().nullable(),
    signal: z.string().nullable(),
    stderr_tail: z.string(),
  }),
  /** What it offers to set, what is in force, and its commands: complete, each time anything of it changes. */
  e("agent.setup_announced", { setup: AgentSetup }),
  e("agent.usage_reported", { ...maybeRun, usage: AgentUsage }),
  /** By a person, and not in force yet: all that is chosen so far. */
  e("agent.options_chosen", { options: OptionValues, by: z.string() }),
  /** The agent was told, or a new one began with them; those it refused are no longer wanted. */
  e("agent.options_settled", { options: OptionValues, refused: z.array(RefusedOption) }),
  e("agent.sign_in_required", { message: z.string(), methods: z.array(SignInMethod) }),
  /** Whatever else an agent says: kept, not dropped. */
  e("agent.update", { ...maybeRun, update: z.unknown() }),

  e("archive.created", {
    archive_id: ArchiveId,
    sha256: z.string(),
    bytes: z.number(),
    files: z.number(),
    left_out: LeftOut.optional(),
  }),
  e("archive.restored", {
    archive_id: ArchiveId,
    bytes: z.number(),
    files: z.number(),
    /** What came back differently than it was, in words for a person. */
    notes: z.array(z.string()).optional(),
    left_out: LeftOut.optional(),
  }),
  e("archive.failed", { archive_id: ArchiveId, reason: z.string(), message: z.string() }),
  e("worker.opened", {
    worker_id: WorkerId,
    type: z.string(),
    name: z.string(),
    agent: z.string().nullish(),
    position: z.number().int().optional(),
    conversation_id: z.string().nullish(),
    forked_from: z.string().nullish(),
  }),
  /** Which conversation an agent's tab goes on with from here: a new one, or one whose name was learned. */
  e("worker.conversation", { worker_id: WorkerId, conversation_id: z.string().nullable(), forked_from: z.string().nullable() }),
  e("worker.renamed", { worker_id: WorkerId, name: z.string() }),
  e("worker.moved", { worker_id: WorkerId, position: z.number().int() }),
  /** A new process where an earlier one had been: its number, and what went with the earlier one. */
  e("worker.restored", { worker_id: WorkerId, epoch: z.number().int().optional(), lost: z.array(z.string()).optional() }),
  e("worker.closed", { worker_id: WorkerId }),

  e("recovery.receipt", {
    receipt_kind: z.enum(["recover", "resume", "restore"]),
    level: SurvivalLevel,
    agent_memory: z.enum(["kept", "native", "injected", "none"]),
    messages: z.number().int(),
    files: ReceiptFiles,
    processes: z.array(
      z.object({
        what: z.string(),
        outcome: z.enum(["kept", "ended"]),
        /** Ran in this terminal, and can be run there again by this line. */
        worker_id: WorkerId.optional(),
        command: z.string().optional(),
        /** Which of the terminal's processes it went with: a loss is told once. */
        epoch: z.number().int().optional(),
      }),
    ),
    queue: z.number().int(),
    took_ms: z.number(),
    attempts: z.array(z.object({ strategy: z.string(), outcome: z.string(), notes: z.array(z.string()).optional() })),
  }),
  e("status.derived", { status: SessionStatus }),
])
export type SessionEvent = z.infer<typeof SessionEvent>
export type EventKind = SessionEvent["kind"]
export type EventOf<K extends EventKind> = Extract<SessionEvent, { kind: K }>

type Unplaced<E> = E extends SessionEvent ? Omit<E, "session_id" | "seq" | "ts" | "v"> : never
/** A fact not yet in the journal: the commit gives it its session, seq and time. */
export type NewEvent = Unplaced<SessionEvent>

export const TERMINAL_KINDS = ["run.completed", "run.failed", "run.cancelled", "run.interrupted"] as const
export type TerminalKind = (typeof TERMINAL_KINDS)[number]
export const isTerminalKind = (kind: string): kind is TerminalKind => (TERMINAL_KINDS as readonly string[]).includes(kind)

/** What the server does by itself, to a session nobody uses: it must not keep a task from expiring, or an archive from being tried again. */
const QUIET: ReadonlySet<string> = new Set<EventKind>([
  "status.derived",
  "recovery.receipt",
  "executor.starting",
  "executor.ready",
  "executor.error",
  "executor.stopped",
  "executor.reaping",
  "executor.deleted",
  "archive.created",
  "archive.failed",
  "agent.exited",
])
export const isActivity = (kind: string): boolean => !QUIET.has(kind)

import type { SignInMethod } from "../../lib/contracts/agent-setup"
import type { SpoolRecord } from "../../lib/contracts/agentctl/protocol"
import type { NewEvent } from "../../lib/contracts/events"
import type { AgentStrategy, SessionState } from "../../lib/contracts/status"
import type { WaitKind, WaitOption } from "../../lib/contracts/waits"
import type { Minted } from "../resume-tokens"
import { closeAll, closeMessage, type OpenItems } from "./open-items"

/** What the session row says at the moment a decisive record is read. The commit guards that it still says so. */
export type SessionFacts = {
  state: SessionState
  open_run_id: string | null
  run_prompt: { prompt_id: string; state: string } | null
  cancel_requested: boolean
  open_waits: number
  had_agent: boolean
  /** What the last `resume.started` announced; null when none is under way. */
  resume_strategy: string | null
  live_tokens: readonly { id: string; request_id: string }[]
  /** The agent's own ways, told again when a turn finds that it is not signed in any more. */
  sign_in: readonly SignInMethod[]
  /** Of the open run: questions taken back before the daemon told of their end. */
  revoked_tokens: readonly { id: string; request_id: string }[]
}

/** A prompt the daemon took in a life that this journal does not know: a backup was restored since. `prompt`: its place in the queue. */
export type Found = { prompt: "queued" | "held" | null; boot_id: string; spool_id: string }

type Plain = Extract<
  SpoolRecord,
  {
    kind:
      | "message.delta"
      | "tool.call"
      | "tool.update"
      | "plan.updated"
      | "agent.update"
      | "agent.setup_announced"
      | "agent.usage_reported"
      | "record.rejected"
  }
>
export type Decisive = Exclude<SpoolRecord, Plain>
/** An agent's error, with what it means for the session in place of the bare fact. */
export type ExplainedFailure = Omit<Extract<SpoolRecord, { kind: "turn.failed" }>, "reason"> & { reason: string }

/** Records that mean the same whatever the session's state is; they share commits. */
export function isPlain(record: SpoolRecord): record is Plain {
  switch (record.kind) {
    case "message.delta":
    case "tool.call":
    case "tool.update":
    case "plan.updated":
    case "agent.update":
    case "agent.setup_announced":
    case "agent.usage_reported":
    case "record.rejected":
      return true
    default:
      return false
  }
}

/** Told beside the conversation: a message that is being said goes on. */
export const isAside = ({ kind }: Plain): boolean => kind === "agent.setup_announced" || kind === "agent.usage_reported"

export function plainEvent({ n: _n, ts: _ts, ...event }: Plain): NewEvent {
  return event
}

/** Daemon's record → journal events. Pure: the token to mint comes in as an argument. */
export function interpret(
  record: Decisive | ExplainedFailure,
  facts: SessionFacts,
  items: OpenItems,
  mint: () => Minted,
  found: Found | null = null,
): NewEvent[] {
  switch (record.kind) {
    case "agent.started":
      return [
        {
          kind: "agent.started",
          agent_execution_id: record.agent_execution_id,
          strategy: labelled(record.strategy, facts),
          pid: record.pid,
          capabilities: record.capabilities,
        },
      ]
    case "agent.session_announced":
      return [{ kind: "agent.session_announced", agent_session_id: record.agent_session_id }]
    case "agent.exited":
      return [
        ...closeMessage(items, true),
        {
          kind: "agent.exited",
          agent_execution_id: record.agent_execution_id,
          code: record.code,
          signal: record.signal,
          stderr_tail: record.stderr_tail,
        },
      ]
    case "prompt.accepted":
      if (found) return foundRun(record, found, facts, items)
      return facts.run_prompt?.prompt_id === record.prompt_id && facts.run_prompt.state === "delivering"
        ? [{ kind: "prompt.delivered", prompt_id: record.prompt_id, run_id: record.run_id }]
        : []

    case "permission.requested": {
      const run_id = facts.open_run_id
      if (!run_id || run_id !== record.run_id || facts.cancel_requested) return closeMessage(items, false)
      const { resume_token_id, secret_sha256, expires_at } = mint()
      const wait_kind = waitKind(record.options)
      return [
        ...closeMessage(items, false),
        { kind: "token.minted", resume_token_id, run_id, wait_kind, request_id: record.permission_id, secret_sha256, expires_at },
        {
          kind: "run.waiting",
          run_id,
          resume_token_id,
          wait_kind,
          deadline_at: expires_at,
          title: record.title,
          detail: record.detail,
          options: record.options,
          tool_call_id: record.tool_call_id,
        },
        { kind: "status.derived", status: "waiting" },
      ]
    }
    case "permission.resolved": {
      // Answered without us: the daemon cancelled it together with the turn.
      const token = facts.live_tokens.find((candidate) => candidate.request_id === record.permission_id)
      if (!facts.open_run_id) return []
      const takenBack = facts.revoked_tokens.find((candidate) => candidate.request_id === record.permission_id)
      if (!token) return takenBack && !facts.cancel_requested ? resumed(facts.open_run_id, takenBack.id, facts.open_waits) : []
      return [
        { kind: "token.revoked", resume_token_id: token.id, reason: "cancelled_by_daemon" },
        ...resumed(facts.open_run_id, token.id, facts.open_waits),
      ]
    }

    case "turn.ended":
      if (facts.open_run_id !== record.run_id) return [{ kind: "run.late_outcome", run_id: record.run_id, outcome: record.stop_reason }]
      if (facts.cancel_requested || record.stop_reason === "cancelled") {
        return endRun({ kind: "run.cancelled", run_id: record.run_id, stop_reason: record.stop_reason }, facts, items)
      }
      return endRun({ kind: "run.completed", run_id: record.run_id, stop_reason: record.stop_reason }, facts, items)
    case "turn.failed":
      if (facts.open_run_id !== record.run_id) return [{ kind: "run.late_outcome", run_id: record.run_id, outcome: record.reason }]
      if (facts.cancel_requested) return endRun({ kind: "run.cancelled", run_id: record.run_id, stop_reason: record.reason }, facts, items)
      return [
        ...endRun({ kind: "run.failed", run_id: record.run_id, reason: record.reason, message: record.message }, facts, items),
        ...(record.reason === "sign_in_needed"
          ? [{ kind: "agent.sign_in_required" as const, message: record.message, methods: [...facts.sign_in] }]
          : []),
      ]
  }
}

/** A run that only the daemon knows of is told from here on as it would have been; a message in the queue that it took is not sent again. */
export function foundRun(
  { run_id, prompt_id, body_sha256 }: { run_id: string; prompt_id: string; body_sha256: string },
  { prompt, boot_id, spool_id }: Found,
  facts: SessionFacts,
  items: OpenItems,
): NewEvent[] {
  const { open_run_id } = facts
  // Its end lies in what was cut from the spool.
  const before = open_run_id ? endRun({ kind: "run.interrupted", run_id: open_run_id, reason: "process_restart" }, facts, items) : []
  const from = open_run_id && facts.state === "RUNNING" ? "WAITING_FOR_INPUT" : facts.state
  return [
    ...before,
    ...(prompt === "held" ? [{ kind: "prompt.released", prompt_id } as const] : []),
    ...(prompt ? [{ kind: "prompt.delivering", prompt_id, run_id, spool_id, body_sha256 } as const] : []),
    { kind: "run.started", run_id, boot_id, prompt_id },
    ...(from === "RUNNING" ? [] : [{ kind: "session.state_changed", from, to: "RUNNING", cause: "found_in_spool" } as const]),
    ...(prompt ? [{ kind: "prompt.delivered", prompt_id, run_id } as const] : []),
    { kind: "status.derived", status: "running" },
  ]
}

/** A fresh agent in a session that had one before remembers nothing by itself; it must never look resumed. */
function labelled(strategy: "new" | "loaded" | "resumed", facts: SessionFacts): AgentStrategy {
  if (strategy !== "new" || !facts.had_agent) return strategy
  return facts.resume_strategy === "inject" ? "injected" : "idle"
}

export const resumed = (run_id: string, resume_token_id: string, openWaits: number): NewEvent[] => [
  { kind: "run.resumed", run_id, resume_token_id },
  { kind: "status.derived", status: openWaits > 1 ? "waiting" : "running" },
]

type Terminal = Extract<NewEvent, { kind: "run.completed" | "run.failed" | "run.cancelled" | "run.interrupted" }>

/** A run's one end, with everything that must not stay open beside it. */
export function endRun(end: Terminal, facts: Pick<SessionFacts, "state" | "live_tokens">, items: OpenItems): NewEvent[] {
  const interrupted = end.kind === "run.interrupted"
  const waited = interrupted && (end.reason === "wait_timeout" || end.reason === "token_invalid")
  return [
    ...closeAll(items, end.kind !== "run.completed"),
    ...facts.live_tokens.map((token): NewEvent => ({ kind: "token.revoked", resume_token_id: token.id, reason: end.kind })),
    end,
    ...(facts.state === "RUNNING"
      ? [{ kind: "session.state_changed", from: "RUNNING", to: "WAITING_FOR_INPUT", cause: end.kind } as const]
      : []),
    { kind: "status.derived", status: interrupted ? (waited ? "interrupted_waiting" : "interrupted_startup") : "idle" },
  ]
}

/** A permission always offers a way to refuse; choices without one are a question. */
const waitKind = (options: readonly WaitOption[]): WaitKind =>
  options.some((option) => option.kind.startsWith("reject")) ? "permission" : "question"

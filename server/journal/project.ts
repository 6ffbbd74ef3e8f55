import type { NewEvent } from "../../lib/contracts/events"
import type { AgentStrategy } from "../../lib/contracts/status"
import { type Change, insert, update, updateAny } from "./changes"

/** Where an event stands while its commit is being written. */
type Place = { session_id: string; task_id: number | { ref: string }; ts: string; seq: { ref: string } }

const IN_QUEUE = { in: ["queued", "held"] }

/**
 * Event → the row changes it implies. Every row of session, prompt, resume token, worker and executor state follows from the log
 * through here and nowhere else; and since each change names the state it expects, a fact that is not true any more
 * (a second end of a run, a token already consumed) cannot be written at all.
 */
export function project(event: NewEvent, at: Place): Change[] {
  const session = { id: at.session_id }
  const executor = { session_id: at.session_id }
  switch (event.kind) {
    case "session.state_changed":
      return event.from === null ? [] : [update("sessions", { ...session, state: event.from }, { state: event.to })]

    case "session.imported":
      // What a stranger's log chose must not act here: no mode, sign-in, archive or conversation of it reaches the next agent. Its
      // history is injected; a user chooses the rest anew.
      return [
        update("executors_running", executor, {
          status: "none",
          place_id: null,
          agentctl_instance_id: null,
          agent_execution_id: null,
          resume_token: null,
          resume_strategy: null,
          context_pending: 0,
          agent_setup: null,
          agent_usage: null,
          agent_options: null,
          agent_sign_in: null,
          restore_archive_id: null,
          unpacked: null,
          executor_deleted_at: null,
          workspace_path: null,
          worktree_path: null,
          worktree_branch: null,
          error_code: null,
          error_message: null,
          updated_at: at.ts,
        }),
        updateAny("workers", { session_id: at.session_id }, { conversation_id: null, forked_from: null }),
        // No daemon here waits for their answers.
        updateAny("resume_tokens", { session_id: at.session_id }, { confirmed_at: at.ts }),
      ]

    case "session.continued":
      return [update("executors_running", executor, { context_pending: 1, updated_at: at.ts })]

    case "run.started":
      return [
        update(
          "sessions",
          { ...session, open_run_id: null },
          {
            open_run_id: event.run_id,
            run_boot_id: event.boot_id,
            run_prompt_id: event.prompt_id,
            run_first_seq: at.seq,
            open_waits: 0,
            cancel_requested: 0,
            interruption: null,
          },
        ),
      ]
    case "run.adopted":
      return [update("sessions", { ...session, open_run_id: event.run_id }, { run_boot_id: event.boot_id })]
    case "run.waiting":
      return [
        update("sessions", { ...session, open_run_id: event.run_id }, { open_waits: { inc: 1 } }),
        update(
          "resume_tokens",
          { id: event.resume_token_id },
          { request: JSON.stringify({ title: event.title, detail: event.detail, options: event.options }) },
        ),
      ]
    case "run.resumed":
      return [update("sessions", { ...session, open_run_id: event.run_id, open_waits: { gt: 0 } }, { open_waits: { inc: -1 } })]
    case "run.cancel_requested":
      return [update("sessions", { ...session, open_run_id: event.run_id }, { cancel_requested: 1 })]
    case "run.completed":
      // An agent that has answered is signed in.
      return [closeRun(at, event.run_id, null), updateAny("executors_running", executor, { agent_sign_in: null })]
    case "run.failed":
    case "run.cancelled":
      return [closeRun(at, event.run_id, null)]
    case "run.interrupted":
      return [closeRun(at, event.run_id, JSON.stringify({ run_id: event.run_id, reason: event.reason, at: at.ts }))]

    case "prompt.queued":
      return [
        {
          op: "insert",
          table: "prompts",
          values: {
            id: event.prompt_id,
            session_id: at.session_id,
            task_id: at.task_id,
            message_id: event.message_id,
            client_message_id: event.client_message_id,
            content: JSON.stringify(event.content),
            attachments: event.attachments ? JSON.stringify(event.attachments) : null,
            state: "queued",
            rank: event.rank,
            queued_at: at.ts,
          },
        },
      ]
    case "prompt.edited":
      return [update("prompts", { id: event.prompt_id, state: IN_QUEUE }, { content: JSON.stringify(event.content) })]
    case "prompt.reordered":
      return [update("prompts", { id: event.prompt_id, state: IN_QUEUE }, { rank: event.rank })]
    case "prompt.withdrawn":
      return [update("prompts", { id: event.prompt_id, state: IN_QUEUE }, { state: "withdrawn" })]
    case "prompt.held":
      return [update("prompts", { id: event.prompt_id, state: "queued" }, { state: "held" })]
    case "prompt.released":
      return [update("prompts", { id: event.prompt_id, state: "held" }, { state: "queued" })]
    case "prompt.delivering":
      return [
        update(
          "prompts",
          { id: event.prompt_id, state: "queued" },
          { state: "delivering", run_id: event.run_id, spool_id: event.spool_id, body_sha256: event.body_sha256 },
        ),
      ]
    case "prompt.delivered":
      return [
        update("prompts", { id: event.prompt_id, state: "delivering" }, { state: "delivered" }),
        updateAny("executors_running", { ...executor, context_pending: 1 }, { context_pending: 0 }),
      ]

    case "resume.started":
      return [update("executors_running", executor, { resume_strategy: event.strategy })]

    case "token.minted":
      return [
        {
          op: "insert",
          table: "resume_tokens",
          values: {
            id: event.resume_token_id,
            session_id: at.session_id,
            run_id: event.run_id,
            wait_kind: event.wait_kind,
            request_id: event.request_id,
            secret_sha256: event.secret_sha256,
            state: "live",
            minted_at: at.ts,
            expires_at: event.expires_at,
            request: "{}",
          },
        },
      ]
    case "token.consumed":
      return [
        update(
          "resume_tokens",
          { id: event.resume_token_id, state: "live" },
          { state: "consumed", outcome: JSON.stringify(event.outcome) },
        ),
      ]
    case "token.revoked":
      return [update("resume_tokens", { id: event.resume_token_id, state: "live" }, { state: "revoked" })]
    case "token.expired":
      return [update("resume_tokens", { id: event.resume_token_id, state: "live" }, { state: "expired" })]

    case "executor.starting":
      return [
        update("executors_running", executor, {
          status: "starting",
          ...(event.place_id === undefined ? {} : { place_id: event.place_id }),
          error_code: null,
          error_message: null,
          updated_at: at.ts,
        }),
      ]
    case "executor.ready":
      return [
        update("executors_running", executor, {
          status: "ready",
          agentctl_instance_id: event.agentctl_instance_id,
          ...placeOf(event),
          restore_archive_id: null,
          error_code: null,
          error_message: null,
          updated_at: at.ts,
        }),
      ]
    case "executor.error":
      return [
        update("executors_running", executor, {
          status: "error",
          error_code: event.reason,
          error_message: event.message,
          updated_at: at.ts,
        }),
      ]
    case "executor.stopped":
      return [
        update("executors_running", executor, {
          status: "stopped",
          agent_execution_id: null,
          // Until its daemon has been told, which is then looked for at every start.
          error_code: event.reason === "abandoned" ? event.reason : null,
          error_message: null,
          updated_at: at.ts,
        }),
      ]
    case "executor.reaping":
      return [
        update(
          "executors_running",
          { ...executor, status: { in: ["none", "ready", "stopped", "error"] } },
          { status: "reaping", updated_at: at.ts },
        ),
      ]
    case "restore.requested":
      // The raised generation takes the ground from under whoever is still archiving or deleting it.
      return [
        update("executors_running", executor, {
          status: "stopped",
          generation: { inc: 1 },
          executor_name: null,
          executor_deleted_at: null,
          restore_archive_id: event.archive_id,
          unpacked: null,
          // An archive can be unpacked anywhere; what is only taken back is where it was.
          ...(event.archive_id === null ? {} : { place_id: null, agentctl_instance_id: null }),
          error_code: null,
          error_message: null,
          updated_at: at.ts,
        }),
      ]
    case "archive.restored": {
      const { archive_id, bytes, files, left_out } = event
      return [update("executors_running", executor, { unpacked: JSON.stringify({ archive_id, bytes, files, left_out }) })]
    }
    case "recovery.receipt":
      return event.receipt_kind === "restore"
        ? [updateAny("executors_running", { ...executor, unpacked: { not: null } }, { unpacked: null })]
        : []
    case "archive.failed":
      return [updateAny("executors_running", { ...executor, status: "reaping" }, { status: "stopped", updated_at: at.ts })]
    case "executor.deleted":
      return [
        update(
          "executors_running",
          { ...executor, status: "reaping" },
          {
            status: "deleted",
            agent_execution_id: null,
            executor_deleted_at: at.ts,
            updated_at: at.ts,
            // Without an archive there is nothing to wait for at the old place: it is made anew.
            ...(event.archive_id === null ? { worktree_path: null } : {}),
          },
        ),
      ]
    case "agent.started":
      return [
        update("executors_running", executor, {
          agent_execution_id: event.agent_execution_id,
          resume_strategy: null,
          ...contextPending(event.strategy),
          supports_session_resume: event.capabilities.load || event.capabilities.resume ? 1 : 0,
          // What its predecessor offered it may not: its own word comes next.
          agent_setup: null,
          agent_sign_in: null,
          updated_at: at.ts,
        }),
      ]
    case "agent.setup_announced":
      return [update("executors_running", executor, { agent_setup: JSON.stringify(event.setup) })]
    case "agent.usage_reported":
      return [update("executors_running", executor, { agent_usage: JSON.stringify(event.usage) })]
    case "agent.options_chosen":
      return [update("executors_running", executor, { agent_options: JSON.stringify(event.options) })]
    case "agent.options_settled":
      // What was chosen since is still to be told.
      return [updateAny("executors_running", { ...executor, agent_options: JSON.stringify(event.options) }, { agent_options: null })]
    case "agent.sign_in_required": {
      const { message, methods } = event
      return [update("executors_running", executor, { agent_sign_in: JSON.stringify({ message, methods }) })]
    }
    case "agent.session_announced":
      return [update("executors_running", executor, { resume_token: event.agent_session_id, updated_at: at.ts })]
    case "agent.session_retired":
      return [
        updateAny("executors_running", { ...executor, resume_token: event.agent_session_id }, { resume_token: null, updated_at: at.ts }),
      ]
    case "agent.session_reinstated":
      return [update("executors_running", executor, { resume_token: event.agent_session_id, context_pending: 0, updated_at: at.ts })]
    case "agent.exited":
      // A late report about an execution that was already replaced must not mark its successor as gone.
      return [
        updateAny(
          "executors_running",
          { ...executor, agent_execution_id: event.agent_execution_id },
          { agent_execution_id: null, updated_at: at.ts },
        ),
      ]

    case "worker.opened":
      return [
        insert("workers", {
          ...{ id: event.worker_id, session_id: at.session_id, type: event.type, name: event.name, created_at: at.ts },
          ...{ agent: event.agent ?? null, position: event.position ?? 0 },
          ...{ conversation_id: event.conversation_id ?? null, forked_from: event.forked_from ?? null },
        }),
      ]
    case "worker.conversation": {
      const { conversation_id, forked_from } = event
      return [update("workers", { id: event.worker_id, session_id: at.session_id, closed_at: null }, { conversation_id, forked_from })]
    }
    case "worker.renamed":
      return [update("workers", { id: event.worker_id, session_id: at.session_id, closed_at: null }, { name: event.name })]
    case "worker.moved":
      return [update("workers", { id: event.worker_id, session_id: at.session_id, closed_at: null }, { position: event.position })]
    case "worker.closed":
      return [update("workers", { id: event.worker_id, session_id: at.session_id, closed_at: null }, { closed_at: at.ts })]

    default:
      return []
  }
}

/** A history that was never handed over is still to be, also by a process that loaded the conversation it was meant for. */
const contextPending = (strategy: AgentStrategy) =>
  strategy === "injected" ? { context_pending: 1 } : strategy === "idle" ? { context_pending: 0 } : {}

/** A daemon that has lost its own facts about a session names no path: what the journal knows stands. */
const placeOf = ({ worktree_path, worktree_branch }: { worktree_path: string; worktree_branch: string | null }) =>
  worktree_path === "" ? {} : { workspace_path: worktree_path, worktree_path, worktree_branch }

const closeRun = (at: Place, run_id: string, interruption: string | null): Change =>
  update(
    "sessions",
    { id: at.session_id, open_run_id: run_id },
    { open_run_id: null, run_boot_id: null, run_prompt_id: null, run_first_seq: null, open_waits: 0, cancel_requested: 0, interruption },
  )

import { join } from "node:path"
import type { WorkspaceSpec } from "../../lib/contracts/agentctl/protocol"
import { isAppError } from "../../lib/contracts/errors"
import type { NewEvent } from "../../lib/contracts/events"
import type { SessionState } from "../../lib/contracts/status"
import type { AgentId, Runtime } from "../../lib/contracts/task"
import { type AgentctlClient, DaemonRefused, LaunchFailed } from "../executors"
import { updateAny } from "../journal"
import type { Task } from "../platform/database"
import { ids } from "../platform/ids"
import type { Attached, ExecutionDeps, Live } from "./context"
import { stillOwned } from "./ownership"
import { planResume, type ResumePlan } from "./plan-resume"
import { hadAgent, type LoadedSession, loadSession } from "./session-facts"

export type Attach = (live: Live, client: AgentctlClient, spoolId: string) => Promise<Attached>

/**
 * Brings a session to the point where a prompt can be handed over: executor up, spool being read, agent ready. On failure the
 * session is in ERROR with the reason in the journal, its queue untouched. Returns null then.
 */
export async function wake(
  deps: ExecutionDeps,
  live: Live,
  loaded: LoadedSession,
  attach: Attach,
  options: { fresh: boolean },
): Promise<Attached | null> {
  const { session, executor } = loaded
  const { ref } = live.owned
  const commit = (events: NewEvent[], rows = [] as ReturnType<typeof updateAny>[]) =>
    deps.journal.commit({ session: ref, guards: [stillOwned(live.owned)], rows, events })

  const task = await deps.db.task.findUniqueOrThrow({ where: { id: ref.task_id } })
  let state = session.state as SessionState
  const enter = (to: SessionState, cause: string): NewEvent[] => {
    if (state === to) return []
    const change: NewEvent = { kind: "session.state_changed", from: state, to, cause }
    state = to
    return [change]
  }

  if (!live.reader || executor.status !== "ready" || executor.agent_execution_id === null) {
    await commit([
      ...enter("STARTING", "wake"),
      ...(executor.status === "ready" ? [] : [{ kind: "executor.starting", executor_id: executor.id, runtime: executor.runtime } as const]),
    ])
  }

  let attached: Attached
  try {
    const client = await deps.executors[executor.runtime as Runtime].launch(executor)
    const daemon = await client.putSession(ref.id, live.owned.epoch, {
      generation: executor.generation,
      workspace: workspaceSpec(deps.data_dir, task, loaded),
    })
    attached = await attach(live, client, daemon.spool_id)
    const now = deps.clock.now().toISOString()
    const seen = updateAny(
      "executors_running",
      { id: executor.id },
      { agentctl_url: client.endpoint.url, agentctl_port: Number(new URL(client.endpoint.url).port), last_seen_at: now },
    )
    if (executor.status !== "ready" || executor.agentctl_instance_id !== client.endpoint.instance_id) {
      await commit(
        [
          {
            kind: "executor.ready",
            executor_id: executor.id,
            agentctl_instance_id: client.endpoint.instance_id,
            worktree_path: daemon.workspace_path,
            worktree_branch: daemon.worktree_branch,
          },
        ],
        [seen],
      )
    }
    if (daemon.agent?.state === "ready") {
      await attached.reader.caughtUpTo(daemon.head)
      await commit(enter("WAITING_FOR_INPUT", "agent_found"))
      return attached
    }
  } catch (error) {
    const { reason, message } = describe(error)
    deps.logger.warn({ session: ref.id, reason, err: error }, "executor failed to start")
    await commit([{ kind: "executor.error", executor_id: executor.id, reason, message }, ...enter("ERROR", reason)])
    return null
  }

  const fresh = await loadSession(deps.db, ref.id)
  if (!fresh) return null
  return (await startAgent(deps, live, fresh, attached, options, commit, enter)) ? attached : null
}

async function startAgent(
  deps: ExecutionDeps,
  live: Live,
  loaded: LoadedSession,
  attached: Attached,
  options: { fresh: boolean },
  commit: (events: NewEvent[]) => Promise<unknown>,
  enter: (to: SessionState, cause: string) => NewEvent[],
): Promise<boolean> {
  const { ref, epoch } = live.owned
  const { executor } = loaded
  let fresh = options.fresh
  for (;;) {
    const plan = planResume({
      had_agent: hadAgent(executor),
      agent_session_id: fresh ? null : executor.resume_token,
      native: executor.supports_session_resume === null ? false : executor.supports_session_resume === 1,
      injects: deps.agents.get(loaded.session.agent as AgentId).history_context_injection,
      fresh,
    })
    if (plan.kind === "impossible") {
      await commit(enter("WAITING_FOR_INPUT", "not_resumable"))
      return false
    }
    try {
      if (plan.kind !== "new") await commit([{ kind: "resume.started", strategy: plan.kind }])
      const agent = deps.agents.require(loaded.session.agent as AgentId)
      await attached.client.putAgent(ref.id, epoch, {
        agent_execution_id: ids.execution(),
        command: agent.command.program,
        args: [...agent.command.args],
        env: { ...agent.env },
        start: plan.kind === "native" ? { kind: "continue", agent_session_id: plan.agent_session_id } : { kind: "new" },
      })
      const { head } = await attached.client.session(ref.id)
      await attached.reader.caughtUpTo(head)
      await commit(enter("WAITING_FOR_INPUT", plan.kind === "new" ? "agent_ready" : "resumed"))
      return true
    } catch (error) {
      const { reason, message } = describe(error)
      deps.logger.warn({ session: ref.id, reason, err: error }, "agent failed to start")
      const rejected = plan.kind === "native" && reason === "agent_session_rejected"
      await commit([
        { kind: "resume.failed", strategy: plan.kind, reason: message, retryable: !rejected },
        // Only a refusal by the agent itself retires its id; a transport failure never does.
        ...(rejected
          ? [
              {
                kind: "agent.session_retired",
                agent_session_id: (plan as Extract<ResumePlan, { kind: "native" }>).agent_session_id,
                reason: message,
              } as const,
            ]
          : []),
      ])
      if (rejected) {
        fresh = true
        continue
      }
      await commit(enter("ERROR", reason))
      return false
    }
  }
}

function describe(error: unknown): { reason: string; message: string } {
  if (error instanceof LaunchFailed) return { reason: error.reason, message: error.message }
  if (error instanceof DaemonRefused) return { reason: error.code.toLowerCase(), message: error.message }
  if (isAppError(error)) return { reason: error.code.toLowerCase(), message: error.message }
  return { reason: "unreachable", message: error instanceof Error ? error.message : String(error) }
}

/** Once made, a workspace keeps its place: a session must find its files where its agent left them. */
function workspaceSpec(dataDir: string, task: Task, { session, executor }: LoadedSession): WorkspaceSpec {
  const path = executor.workspace_path ?? join(dataDir, "workspaces", String(task.id), session.id)
  if (task.type !== "code" || !task.repository) return { kind: "folder", path }
  const remote = !task.repository.startsWith("/")
  const mirror = remote ? join(dataDir, "repositories", encodeURIComponent(task.repository)) : null
  return { kind: "worktree", path, repository: task.repository, mirror, branch: executor.worktree_branch ?? branchName(task, session.id) }
}

const branchName = (task: Task, sessionId: string) => {
  const slug = task.title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 40)
  return `rewake/task-${task.id}-${slug || sessionId.slice(-6)}`
}

import { existsSync } from "node:fs"
import { join } from "node:path"
import type { GitCredential, WorkspaceSpec } from "../../lib/contracts/agentctl/protocol"
import type { NewEvent, ReceiptFiles } from "../../lib/contracts/events"
import type { SessionState } from "../../lib/contracts/status"
import type { Runtime } from "../../lib/contracts/task"
import { holdsCredentials } from "../../lib/host/git-url"
import { type AgentctlClient, LaunchFailed } from "../executors"
import { type Change, updateAny } from "../journal"
import type { ExecutorRunning, Task } from "../platform/database"
import { isDatabaseAway } from "../platform/storage-trouble"
import { hadAgent } from "../status"
import type { Attached, ExecutionDeps, Live } from "./context"
import { dismissForgetful } from "./forgotten"
import { stillOwned } from "./ownership"
import { restoreFiles, unpackedBefore } from "./restore-files"
import { type LoadedSession, loadSession } from "./session-facts"
import { describeFailure, startAgent } from "./start-agent"

export type Attach = (live: Live, client: AgentctlClient, spoolId: string) => Promise<Attached>

/**
 * Brings a session to the point where a prompt can be handed over: executor up, spool being read, agent ready. On failure the
 * reason is in the journal, the session in ERROR, its queue untouched; returns null then. A database that is away is no failure
 * of the session: it throws, and the session is looked at again.
 */
export async function wake(
  deps: ExecutionDeps,
  live: Live,
  loaded: LoadedSession,
  attach: Attach,
  options: { fresh: boolean; sign_in: string | null },
): Promise<Attached | null> {
  const { session, executor } = loaded
  // Put away, or about to be: only a restore leads back, and that is a person's word.
  if (executor.status === "deleted" || executor.status === "reaping") return null
  const started = performance.now()
  const startsAnew = options.fresh || options.sign_in !== null
  const { ref } = live.owned
  let state = session.state as SessionState
  const commit = async (events: NewEvent[], rows: Change[] = []) => {
    await deps.journal.commit({ session: ref, guards: [stillOwned(live.owned)], rows, events })
    // Only now: a change whose commit failed is still to be made.
    for (const event of events) if (event.kind === "session.state_changed") state = event.to
  }
  /** While a run is open the session stays RUNNING, whatever its agent goes through: the run is what the user sees. */
  const enter = (to: SessionState, cause: string): NewEvent[] =>
    session.open_run_id !== null || state === to ? [] : [{ kind: "session.state_changed", from: state, to, cause }]

  const atRest = live.reader !== null && executor.status === "ready" && executor.agent_execution_id !== null && !startsAnew
  if (!atRest) {
    const starting: NewEvent[] = executor.status === "ready" ? [] : [startingAt(deps, executor)]
    await commit([...enter("STARTING", "wake"), ...starting])
  }
  try {
    const attached = await raiseExecutor(deps, live, loaded, attach, commit)
    if (attached.agentReady && !startsAnew) {
      await commit(enter("WAITING_FOR_INPUT", "agent_found"))
      return attached
    }
    if (attached.agentReady && options.sign_in !== null) await attached.client.stopAgent(ref.id, live.owned.epoch)
    const fresh = (await loadSession(deps.db, ref.id)) ?? loaded
    const takesMessages = (cause: string) => enter("WAITING_FOR_INPUT", cause)
    const result = await startAgent(
      deps,
      live,
      fresh,
      attached,
      { ...options, started, restored: attached.restored, takesMessages },
      commit,
    )
    if (result.outcome === "failed") {
      await commit(enter("ERROR", result.reason))
      return null
    }
    if (result.outcome === "started") return attached
    await commit(takesMessages(result.outcome))
    return null
  } catch (error) {
    if (isDatabaseAway(error)) throw error
    const { reason, message } = describeFailure(error)
    deps.logger.warn({ session: ref.id, reason, err: error }, "executor did not start")
    await commit([{ kind: "executor.error", executor_id: executor.id, reason, message }, ...enter("ERROR", reason)])
    return null
  }
}

/** Says where before anything is launched there: a server elsewhere must never take a daemon it cannot see for dead. */
function startingAt({ executors }: ExecutionDeps, { id, runtime }: ExecutorRunning): NewEvent {
  const { place_id } = executors[runtime as Runtime]
  return { kind: "executor.starting", executor_id: id, runtime, ...(place_id === null ? {} : { place_id }) }
}

async function raiseExecutor(
  deps: ExecutionDeps,
  live: Live,
  loaded: LoadedSession,
  attach: Attach,
  commit: (events: NewEvent[], rows?: Change[]) => Promise<unknown>,
): Promise<Attached & { agentReady: boolean; restored: ReceiptFiles | null }> {
  const { executor } = loaded
  const { ref, epoch } = live.owned
  if (executor.restore_archive_id === null) requireWorkspace(loaded)
  const task = await deps.db.task.findUniqueOrThrow({ where: { id: ref.task_id } })
  requireCleanUrl(task)
  const client = await deps.executors[executor.runtime as Runtime].launch(executor)
  const workspace = workspaceSpec(deps.data_dir, task, loaded)
  const git_credential = await credentialFor(deps, ref.user_id, loaded, workspace)
  const restored =
    (await restoreFiles(deps, live, loaded, client, { workspace, git_credential }, commit)) ??
    (await unpackedBefore(deps, executor)) ??
    rebuilt(loaded, workspace)
  const daemon = await client.putSession(ref.id, epoch, { generation: executor.generation, workspace, git_credential })
  const attached = await attach(live, client, daemon.spool_id)
  await attached.reader.caughtUpTo(daemon.head)
  if (executor.status !== "ready" || executor.agentctl_instance_id !== client.endpoint.instance_id) {
    const { url, instance_id } = client.endpoint
    const seen = updateAny(
      "executors_running",
      { id: executor.id },
      { agentctl_url: url, agentctl_port: Number(new URL(url).port), last_seen_at: deps.clock.now().toISOString() },
    )
    const { workspace_path: worktree_path, worktree_branch } = daemon
    await commit(
      [{ kind: "executor.ready", executor_id: executor.id, agentctl_instance_id: instance_id, worktree_path, worktree_branch }],
      [seen],
    )
  }
  const forgot = await dismissForgetful(deps, live, client, daemon, loaded.session.agent)
  return { ...attached, agentReady: daemon.agent?.state === "ready" && !forgot, restored }
}

/** An agent worked here before, and its place is made anew: what lay there is gone, and the receipt must not say otherwise. */
function rebuilt({ executor }: LoadedSession, workspace: WorkspaceSpec): ReceiptFiles | null {
  if (executor.worktree_path !== null || !hadAgent(executor)) return null
  return workspace.kind === "worktree" ? { recreated: { branch: workspace.branch } } : { lost: { paths: [workspace.path] } }
}

/** A folder that was there and is not may be a disk that is not mounted yet: making a new one would hide the loss, and the work. */
function requireWorkspace({ executor }: LoadedSession) {
  if (executor.runtime !== "standalone" || executor.worktree_path === null || existsSync(executor.worktree_path)) return
  throw new LaunchFailed(
    "workspace_missing",
    `The workspace ${executor.worktree_path} is not there. Nothing was deleted; bring the folder back and retry.`,
  )
}

/** Tasks of earlier versions may have one that holds a token; the mirror's folder would be named after it. */
function requireCleanUrl({ repository }: Task) {
  if (repository === null || !holdsCredentials(repository)) return
  const why = "The URL of this task's repository holds a user name or password, which are not kept in URLs any more."
  const instead = "Create a new task with the URL without them, and save them under Settings, Git credentials."
  throw new LaunchFailed("invalid_input", `${why} ${instead}`)
}

/** Only where something is to be cloned or fetched: a worktree that is there needs nobody's password. */
async function credentialFor(
  { gitCredentials }: ExecutionDeps,
  userId: string,
  { executor }: LoadedSession,
  workspace: WorkspaceSpec,
): Promise<GitCredential | undefined> {
  const isThere = executor.worktree_path !== null && executor.restore_archive_id === null
  if (isThere || workspace.kind !== "worktree" || workspace.mirror === null) return undefined
  return (await gitCredentials.forUrl(userId, workspace.repository)) ?? undefined
}

/** Once made, a workspace keeps its place: a session must find its files where its agent left them. */
export function workspaceSpec(dataDir: string, task: Task, { session, executor }: LoadedSession): WorkspaceSpec {
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

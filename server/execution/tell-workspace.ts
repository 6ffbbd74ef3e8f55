import { existsSync } from "node:fs"
import type { DaemonSession } from "../../lib/contracts/agentctl/protocol"
import { type AgentctlClient, DaemonRefused } from "../executors"
import type { ExecutionDeps, Live } from "./context"
import type { LoadedSession } from "./session-facts"
import { workspaceSpec } from "./wake"

/**
 * A daemon whose own file about the session was damaged does not know its workspace any more: it is told again what the journal
 * knows. Only of a folder that is there: it would make a missing one anew, and so hide a disk that is not mounted.
 */
export async function tellWorkspace(
  deps: ExecutionDeps,
  live: Live,
  loaded: LoadedSession,
  client: AgentctlClient,
  daemon: DaemonSession,
): Promise<DaemonSession> {
  const { executor } = loaded
  const { ref, epoch } = live.owned
  if (daemon.workspace_path !== "" || executor.runtime !== "standalone") return daemon
  if (executor.worktree_path === null || !existsSync(executor.worktree_path)) return daemon
  const task = await deps.db.task.findUniqueOrThrow({ where: { id: ref.task_id } })
  try {
    return await client.putSession(ref.id, epoch, {
      generation: executor.generation,
      workspace: workspaceSpec(deps.data_dir, task, loaded),
    })
  } catch (error) {
    // No reason to leave an open run undecided: whoever wakes the session is told what is wrong with the folder.
    if (!(error instanceof DaemonRefused) || error.code !== "WORKSPACE_FAILED") throw error
    return daemon
  }
}

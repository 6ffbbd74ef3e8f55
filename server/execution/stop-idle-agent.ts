import type { ExecutionDeps, Live } from "./context"
import { loadSession } from "./session-facts"
import { refusalIsFinal } from "./tend-run"

/**
 * Ends an agent to make room for another, and waits until the journal has it. False when the session has something to do by now. Its
 * memory stays with its session id: the next message resumes it.
 */
export async function stopIdleAgent(deps: ExecutionDeps, live: Live | undefined): Promise<boolean> {
  if (!live?.reader) return false
  const { id } = live.owned.ref
  const loaded = await loadSession(deps.db, id)
  if (!loaded?.executor.agent_execution_id || loaded.session.state !== "WAITING_FOR_INPUT" || loaded.session.open_run_id) return false
  if (await deps.db.prompt.findFirst({ where: { session_id: id, state: { in: ["queued", "held"] } }, select: { id: true } })) return false
  const { client, caughtUpTo } = live.reader
  await refusalIsFinal(client.stopAgent(id, live.owned.epoch))
  await caughtUpTo((await client.session(id)).head)
  return true
}

import type { Runtime } from "../../lib/contracts/task"
import type { ExecutionDeps, Live } from "./context"
import type { LoadedSession } from "./session-facts"
import { refusalIsFinal } from "./tend-run"

/** `not_yet`: its owner or its daemon is away. */
export type Stopped = "stopped" | "nothing_ran" | "not_yet"

/**
 * Ends the agent and every terminal's process of a session whose user may not run anything any more. The output stays, and so does
 * everything else. `hold` runs first, in the session's turn: a message that is being delivered is a run by then.
 */
export async function stopEverything(
  deps: ExecutionDeps,
  live: Live,
  { session, executor }: LoadedSession,
  { hold, readSpool }: { hold: () => Promise<boolean>; readSpool: () => Promise<unknown> },
): Promise<Stopped> {
  const held = await hold()
  const client = await deps.executors[executor.runtime as Runtime].reconnect(executor)
  if (!client) return "not_yet"
  // A server that has just taken the session over reads its spool first, or it would miss how the run ended.
  if (!live.reader && session.spool_id !== null) await readSpool()
  const terminals = await client.ptys(session.id).catch(() => null)
  const running = executor.agent_execution_id !== null || terminals?.ptys.some(({ state }) => state === "running")
  await refusalIsFinal(client.stopAgent(session.id, live.owned.epoch))
  await refusalIsFinal(client.endPtys(session.id, live.owned.epoch))
  return held || running ? "stopped" : "nothing_ran"
}

import { AppError } from "../../lib/contracts/errors"
import type { NewEvent } from "../../lib/contracts/events"
import type { Runtime } from "../../lib/contracts/task"
import { update } from "../journal"
import { openItemsOf } from "./attach"
import type { ExecutionDeps, Live } from "./context"
import { endRun } from "./interpret"
import { stillOwned } from "./ownership"
import { NOT_RECONCILED } from "./reconcile"
import { type LoadedSession, loadSession, toFacts } from "./session-facts"
import { taskAtRest } from "./task-rows"

/**
 * Gives up an executor that does not answer, on a person's word: its run gets its end, and the generation is raised, so that the
 * daemon, should it come back, is told to stop the session before anything else happens with it (`reconcile`).
 */
export async function abandon(deps: ExecutionDeps, live: Live): Promise<void> {
  const loaded = await loadSession(deps.db, live.owned.ref.id)
  if (!loaded) return
  const { executor, session } = loaded
  if (session.spool_id === null && !session.open_run_id) throw nothingToAbandon("This session was never started.")
  if (executor.error_code === ABANDONED && !session.open_run_id) return

  const found = await deps.executors[executor.runtime as Runtime].probe(executor)
  if (found.kind === "alive" && executor.error_code !== NOT_RECONCILED)
    throw nothingToAbandon("The executor answers. Stop the turn or the agent instead.")
  live.silent = found.kind === "unknown"
  // Whatever its stream still held would otherwise be written behind the end of the run.
  await live.reader?.stop()
  live.reader = null

  const again = (await loadSession(deps.db, session.id)) ?? loaded
  await deps.journal.commit({
    session: live.owned.ref,
    guards: [stillOwned(live.owned)],
    rows: [
      update("executors_running", { id: executor.id, generation: executor.generation }, { generation: executor.generation + 1 }),
      taskAtRest(live.owned.ref.task_id, deps.clock.now().toISOString()),
    ],
    events: [...(await ends(deps, again)), { kind: "executor.stopped", executor_id: executor.id, reason: ABANDONED }],
  })
}

/** Kept beside the executor's state until its daemon has been told. */
export const ABANDONED = "abandoned"

async function ends(deps: ExecutionDeps, loaded: LoadedSession): Promise<NewEvent[]> {
  const { open_run_id: run_id, run_first_seq, id } = loaded.session
  const facts = toFacts(loaded)
  if (run_id) {
    const items = await openItemsOf(deps, id, run_first_seq)
    return endRun({ kind: "run.interrupted", run_id, reason: "abandoned" }, facts, items)
  }
  return facts.state === "WAITING_FOR_INPUT"
    ? []
    : [{ kind: "session.state_changed", from: facts.state, to: "WAITING_FOR_INPUT", cause: ABANDONED }]
}

const nothingToAbandon = (why: string) => new AppError("CONFLICT", `There is nothing to abandon. ${why}`, {})

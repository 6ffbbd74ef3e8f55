import { killPoint } from "../../lib/host/kill-point"
import { type AgentctlClient, DaemonRefused } from "../executors"
import { outcomeOf } from "../resume-tokens"
import type { ExecutionDeps, Live } from "./context"
import { closeOpenRun } from "./deliver"
import { type LoadedSession, loadSession } from "./session-facts"

/** What an open run still owes the daemon: a cancel that was asked for, answers that were given. */
export async function tendRun(live: Live, client: AgentctlClient, { session, tokens }: LoadedSession): Promise<void> {
  if (!session.open_run_id) return
  for (const token of tokens) {
    if (token.state !== "consumed") continue
    await refusalIsFinal(client.putPermission(session.id, live.owned.epoch, token.request_id, outcomeOf(token)))
    killPoint("answer.handed_over")
  }
  if (session.cancel_requested) await refusalIsFinal(client.cancel(session.id, live.owned.epoch, session.open_run_id))
}

/** A question nobody answered in time ends its run; the agent is told `cancelled`, and its turn is cancelled. */
export async function expireWaits(deps: ExecutionDeps, live: Live): Promise<void> {
  const { id } = live.owned.ref
  const loaded = await loadSession(deps.db, id)
  const run_id = loaded?.session.open_run_id
  const now = deps.clock.now().toISOString()
  const late = loaded?.tokens.filter((token) => token.state === "live" && token.expires_at <= now) ?? []
  if (!run_id || late.length === 0) return
  await closeOpenRun(
    deps,
    live,
    { kind: "run.interrupted", run_id, reason: "wait_timeout" },
    late.map((token) => token.id),
  )
  if (live.reader) await refusalIsFinal(live.reader.client.cancel(id, live.owned.epoch, run_id))
}

/** The daemon knows better: what it refuses (unknown permission, no such run) is over already. Silence is not a refusal. */
export async function refusalIsFinal(call: Promise<unknown>) {
  try {
    await call
  } catch (error) {
    if (!(error instanceof DaemonRefused) || error.code === "FENCED") throw error
  }
}

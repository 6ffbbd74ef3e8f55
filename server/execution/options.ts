import { AgentSetup, NO_SETUP, OptionValues, type RefusedOption, valuesOf } from "../../lib/contracts/agent-setup"
import { type AgentctlClient, DaemonRefused } from "../executors"
import { readColumn } from "../platform/columns"
import type { ExecutorRunning } from "../platform/database"
import type { ExecutionDeps, Live } from "./context"
import { stillOwned } from "./ownership"

/** As the agent last said; one whose words cannot be read any more offers nothing. */
export const setupOf = ({ id, agent_setup }: Pick<ExecutorRunning, "id" | "agent_setup">): AgentSetup =>
  readColumn(`executors_running.agent_setup ${id}`, agent_setup, AgentSetup, NO_SETUP)

export const chosenOptions = ({ id, agent_options }: Pick<ExecutorRunning, "id" | "agent_options">): OptionValues =>
  readColumn(`executors_running.agent_options ${id}`, agent_options, OptionValues, {})

/** What the session's next agent is to be like: as the last one was, and as a person chose since. Agents forget their modes. */
export const wantedOptions = (executor: ExecutorRunning): OptionValues => ({ ...valuesOf(setupOf(executor)), ...chosenOptions(executor) })

/** Of what was refused, in words for a receipt. */
export const refusalNotes = (refused: readonly RefusedOption[]): string[] =>
  refused.map(({ name, value, reason }) => `${name} could not be set to ${value}: ${reason}`)

/** A new agent was begun with what a person chose. What is chosen while this is written stays to be told. */
export const settled = (options: OptionValues, refused: readonly RefusedOption[]) =>
  Object.keys(options).length === 0
    ? []
    : [{ kind: "agent.options_settled" as const, options, refused: refused.filter(({ id }) => id in options) }]

/** Tells a live agent what a person chose. Without an agent it waits for the next one. */
export async function settleOptions(deps: ExecutionDeps, live: Live, client: AgentctlClient): Promise<void> {
  const { ref, epoch } = live.owned
  const executor = await deps.db.executorRunning.findUnique({ where: { session_id: ref.id } })
  if (!executor?.agent_options || executor.agent_execution_id === null) return
  const options = chosenOptions(executor)
  if (Object.keys(options).length === 0) return
  const refused = await client.putOptions(ref.id, epoch, options).catch((error): RefusedOption[] | null => {
    if (!(error instanceof DaemonRefused) || error.code === "FENCED") throw error
    if (error.code === "AGENT_NOT_RUNNING") return null
    return Object.entries(options).map(([id, value]) => ({ id, name: id, value, reason: error.message }))
  })
  if (refused === null) return
  await deps.journal.commit({ session: ref, guards: [stillOwned(live.owned)], events: settled(options, refused) })
}

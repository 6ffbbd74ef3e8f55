import { type AgentUsage, type OptionValues, type SessionSetup, whyNot } from "../../lib/contracts/agent-setup"
import { AppError } from "../../lib/contracts/errors"
import { isTerminalState, type SessionState } from "../../lib/contracts/status"
import { type Person, requireSession } from "../auth"
import { chosenOptions, setupOf } from "../execution"
import { guard, isConflict } from "../journal"
import type { ExecutorRunning } from "../platform/database"
import { refOf, type SessionDeps } from "./deps"

export async function readSetup(deps: SessionDeps, person: Person, sessionId: string): Promise<SessionSetup> {
  const session = await requireSession(deps.db, person, sessionId)
  return toView(await executorOf(deps, session.id))
}

/** Accepted here, told to the agent as soon as there is one; what the agent refuses is in the journal. */
export async function chooseOptions(deps: SessionDeps, person: Person, sessionId: string, values: OptionValues): Promise<SessionSetup> {
  for (;;) {
    const session = await requireSession(deps.db, person, sessionId)
    if (isTerminalState(session.state as SessionState))
      throw new AppError("SESSION_TERMINAL", "This session has ended.", { state: session.state })
    const executor = await executorOf(deps, session.id)
    requireOffered(executor, values)
    const options = { ...chosenOptions(executor), ...values }
    try {
      await deps.journal.commit({
        session: refOf(session),
        guards: [guard("executors_running", { id: executor.id, agent_options: executor.agent_options })],
        events: [{ kind: "agent.options_chosen", options, by: person.id }],
      })
    } catch (error) {
      if (isConflict(error)) continue
      throw error
    }
    deps.coordinator.poke(session.id)
    return toView({ ...executor, agent_options: JSON.stringify(options) })
  }
}

function requireOffered(executor: ExecutorRunning, values: OptionValues): void {
  const setup = setupOf(executor)
  const issues = Object.entries(values).flatMap(([id, value]) => {
    const why = whyNot(setup, id, value)
    return why === null ? [] : [`options.${id}: ${why}`]
  })
  if (issues.length > 0) throw new AppError("INVALID_INPUT", issues[0] as string, { issues })
}

const executorOf = (deps: SessionDeps, sessionId: string) => deps.db.executorRunning.findUniqueOrThrow({ where: { session_id: sessionId } })

function toView(executor: ExecutorRunning): SessionSetup {
  const { options, commands, mcp_servers } = setupOf(executor)
  return {
    options,
    commands,
    mcp_servers,
    usage: executor.agent_usage === null ? null : (JSON.parse(executor.agent_usage) as AgentUsage),
    pending: chosenOptions(executor),
    sign_in: executor.agent_sign_in === null ? null : (JSON.parse(executor.agent_sign_in) as SessionSetup["sign_in"]),
  }
}

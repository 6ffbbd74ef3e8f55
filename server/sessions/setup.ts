import { z } from "zod"
import { AgentUsage, type OptionValues, type SessionSetup, SignInMethod, whyNot } from "../../lib/contracts/agent-setup"
import { AppError } from "../../lib/contracts/errors"
import { isTerminalState, type SessionState } from "../../lib/contracts/status"
import { type Person, requireSession } from "../auth"
import { chosenOptions, setupOf } from "../execution"
import { guard, isConflict } from "../journal"
import { readColumn } from "../platform/columns"
import type { ExecutorRunning, Session } from "../platform/database"
import { refOf, type SessionDeps } from "./deps"

export async function readSetup(deps: SessionDeps, person: Person, sessionId: string): Promise<SessionSetup> {
  const session = await requireSession(deps.db, person, sessionId)
  return toView(deps, session, await executorOf(deps, session.id))
}

/** Accepted here, told to the agent as soon as there is one; what the agent refuses is in the journal. */
export async function chooseOptions(deps: SessionDeps, person: Person, sessionId: string, values: OptionValues): Promise<SessionSetup> {
  for (;;) {
    const session = await requireSession(deps.db, person, sessionId)
    await deps.access.require(person, session.runtime)
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
    return toView(deps, session, { ...executor, agent_options: JSON.stringify(options) })
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

const SignInRequired = z.object({ message: z.string(), methods: z.array(SignInMethod) })

const executorOf = (deps: SessionDeps, sessionId: string) => deps.db.executorRunning.findUniqueOrThrow({ where: { session_id: sessionId } })

function toView({ agents }: SessionDeps, { agent, last_seq }: Session, executor: ExecutorRunning): SessionSetup {
  const required = readColumn(`executors_running.agent_sign_in ${executor.id}`, executor.agent_sign_in, SignInRequired, null)
  const { options, commands, mcp_servers } = setupOf(executor)
  return {
    last_seq,
    options,
    commands,
    mcp_servers,
    usage: readColumn(`executors_running.agent_usage ${executor.id}`, executor.agent_usage, AgentUsage, null),
    pending: chosenOptions(executor),
    sign_in: required && {
      message: required.message,
      methods: required.methods.map(({ terminal, ...method }) => ({
        ...method,
        command_line: terminal && agents.commandLine(agent, terminal),
      })),
    },
  }
}

import type { AgentFile, CarriedConversation } from "../../lib/contracts/agentctl/archive"
import type { ConversationTraces } from "../../lib/contracts/agentctl/ptys"
import type { AgentInfo, AgentSettings, ComesBack, CustomAgent } from "../../lib/contracts/agents"
import { AppError } from "../../lib/contracts/errors"
import type { AgentId } from "../../lib/contracts/task"
import { quoted } from "../../lib/host/shell"
import {
  type AgentDefinition,
  defineAgent,
  type Program,
  sessionFilesOf,
  type TerminalCommand,
  type TerminalProgram,
  type Trouble,
} from "./agent"
import { type CustomAgents, definitionOf } from "./custom-agents"
import { findProgram } from "./find-program"
import type { Installs } from "./installs"
import type { Observations } from "./observations"
import { troubleOf } from "./trouble"
import type { AgentVariables } from "./variables"

type Source = "built_in" | "file" | "added"
type Known = { definition: AgentDefinition; source: Source }

export type TerminalAgent = {
  name: string
  program: TerminalProgram
  command: (args: readonly string[]) => TerminalCommand
  /** The program with nothing but these: a command of its own that is no conversation. */
  plain: (args: readonly string[]) => TerminalCommand
  /** Whether this is a name it gives to a conversation: see `conversation` of AgentDefinition. */
  isConversation: (name: string) => boolean
}
export type StartCommand = { name: string; command: Program; env: Record<string, string> }

/**
 * The agents people can choose: those that come with Rewake, those of the configuration file, those admins have added. What admins
 * added may have been added at another server, so that whoever is about to start one looks again.
 */
export async function createAgentRegistry(options: {
  builtIn: readonly AgentDefinition[]
  fromFile: readonly CustomAgent[]
  custom: CustomAgents
  variables: AgentVariables
  installs: Installs
  observations: Observations
  data_dir: string
  /** What agents inherit: where programs are looked for, and whose home their files are in. */
  env: Readonly<Record<string, string>>
}) {
  const { custom, variables, installs, observations, env } = options
  const fixed: Known[] = [
    ...options.builtIn.map((definition) => ({ definition, source: "built_in" as const })),
    ...options.fromFile.map((agent) => ({ definition: definitionOf(agent), source: "file" as const })),
  ]
  let added: CustomAgent[] = []

  async function refresh(): Promise<Map<AgentId, Known>> {
    added = await custom.list()
    return all()
  }
  /** A name that is taken stays with whom it was given to first: a row cannot replace a built-in agent. */
  function all(): Map<AgentId, Known> {
    const known = new Map<AgentId, Known>()
    const candidates = [...fixed, ...added.map((agent) => ({ definition: definitionOf(agent), source: "added" as const }))]
    for (const entry of candidates) if (!known.has(entry.definition.id)) known.set(entry.definition.id, entry)
    return known
  }
  await refresh()

  const locate = (agent: AgentDefinition, { program }: Program): { file: string; found: "path" | "installed" } | null => {
    const installed = installs.find(agent.id, program)
    if (installed) return { file: installed, found: "installed" }
    return findProgram(program, env.PATH ?? "") ? { file: program, found: "path" } : null
  }

  const acpProblem = (agent: AgentDefinition): string | null => {
    if (!agent.acp) return agent.terminal ? "It runs in a terminal only." : "There is no such agent here."
    return locate(agent, agent.acp) ? null : `The command ${agent.acp.program} is not on this machine.`
  }
  const terminalProblem = (agent: AgentDefinition): string | null => {
    if (!agent.terminal) return "It does not run in a terminal."
    return locate(agent, agent.terminal) ? null : `The command ${agent.terminal.program} is not on this machine.`
  }

  const foundOf = ({ definition, source }: Known): AgentInfo["found"] => {
    const program = definition.acp ?? definition.terminal
    const place = program && locate(definition, program)
    if (!place) return null
    return source === "built_in" && definition.packages.length === 0 ? "built_in" : place.found
  }

  const placeIn = (workspace: string | null) => ({ data_dir: options.data_dir, home: env.HOME ?? "", env, workspace })
  const get = (id: AgentId): AgentDefinition => all().get(id)?.definition ?? unknownAgent(id)
  const refusal = (agent: AgentDefinition, what: string, reason: string | null) =>
    new AppError("AGENT_UNAVAILABLE", `${agent.name} cannot be ${what}. ${reason}`, { agent: agent.id })

  function describe(entry: Known): AgentInfo {
    const { definition: agent, source } = entry
    const reason = acpProblem(agent)
    const observed = observations.native(agent.id)
    return {
      id: agent.id,
      name: agent.name,
      description: agent.description,
      available: reason === null,
      unavailable_reason: reason,
      comes_back: comesBack(agent, observed),
      comes_back_by: observed === null ? "declared" : "observed",
      takes_history: agent.history_context_injection,
      terminal: terminalProblem(agent) === null,
      terminal_forks: agent.terminal?.fork != null,
      custom: source !== "built_in",
      found: foundOf(entry),
      installable: agent.packages.length > 0,
      install: installs.state(agent.id),
    }
  }

  return {
    /** As last known, without a look at the database; an agent that was removed since is one that can do nothing. */
    get,
    trouble: (id: AgentId, message: string): Trouble | null => troubleOf(get(id), message),
    sessionFiles: (id: AgentId, agentSessionId: string, workspace: string | null): AgentFile[] =>
      sessionFilesOf(get(id), agentSessionId, placeIn(workspace)),
    traces: (id: AgentId, workspace: string | null): ConversationTraces | null => get(id).terminal?.traces?.(placeIn(workspace)) ?? null,
    /** The commands that bring a conversation of its own into an archive and out of it; null where there is none, or no program. */
    async carried(id: AgentId, agentSessionId: string): Promise<{ exports: CarriedConversation; imports: CarriedConversation } | null> {
      const agent = (await refresh()).get(id)?.definition
      const program = agent?.acp ?? agent?.terminal
      const place = agent && program && locate(agent, program)
      if (!place || !agent.carries || !agent.conversation.test(agentSessionId)) return null
      const args = agent.carries.exports(agentSessionId)
      const own = { file: place.file, env: { ...agent.env, ...(await variables.of(id)) } }
      const as = `${agentSessionId}.json`
      return { exports: { as, command: { ...own, args } }, imports: { as, command: { ...own, args: [...agent.carries.imports] } } }
    },
    observed: observations.note,
    /** Its own program with these arguments more, as a person would type it; null when it is not here. */
    commandLine(id: AgentId, { args, env: own }: { args: readonly string[]; env: Readonly<Record<string, string>> }): string | null {
      const agent = get(id)
      const place = agent.acp && locate(agent, agent.acp)
      if (!agent.acp || !place) return null
      const settings = Object.entries({ ...agent.env, ...own }).map(([name, value]) => `${name}=${quoted(value)}`)
      return [...settings, ...[place.file, ...agent.acp.args, ...args].map(quoted)].join(" ")
    },

    isKnown: async (id: AgentId): Promise<boolean> => (await refresh()).has(id),
    /** The command to start, or a clear refusal before anything is written. */
    async require(id: AgentId): Promise<StartCommand> {
      const agent = (await refresh()).get(id)?.definition ?? unknownAgent(id)
      const place = agent.acp && locate(agent, agent.acp)
      if (!agent.acp || !place) throw refusal(agent, "started", acpProblem(agent))
      const command = { program: place.file, args: agent.acp.args }
      return { name: agent.name, command, env: { ...agent.env, ...(await variables.of(id)) } }
    },
    async requireTerminal(id: AgentId): Promise<TerminalAgent> {
      const agent = (await refresh()).get(id)?.definition ?? unknownAgent(id)
      const program = agent.terminal
      const place = program && locate(agent, program)
      if (!program || !place) throw refusal(agent, "opened in a terminal", terminalProblem(agent))
      const own = { ...agent.env, ...(await variables.of(id)) }
      const command = (args: readonly string[]) => ({ file: place.file, args: [...program.args, ...args], env: own })
      const plain = (args: readonly string[]) => ({ file: place.file, args: [...args], env: own })
      return { name: agent.name, program, command, plain, isConversation: (name: string) => agent.conversation.test(name) }
    },
    list: async (): Promise<AgentInfo[]> => [...(await refresh()).values()].map(describe),

    /** For admins. */
    async settings(): Promise<AgentSettings[]> {
      const [known, names] = [await refresh(), await variables.names()]
      return [...known.values()].map((entry) => ({
        ...describe(entry),
        keys: [...entry.definition.keys],
        variables: names.get(entry.definition.id) ?? [],
        packages: [...entry.definition.packages],
        definition: entry.source === "added" ? (added.find(({ id }) => id === entry.definition.id) ?? null) : null,
      }))
    },
    async add(agent: CustomAgent): Promise<void> {
      const taken = (await refresh()).get(agent.id)
      if (taken) throw new AppError("CONFLICT", `There is an agent called ${agent.id} already.`, {})
      await custom.put(agent)
      await refresh()
    },
    async change(agent: CustomAgent): Promise<void> {
      if ((await refresh()).get(agent.id)?.source !== "added")
        throw new AppError("NOT_FOUND", "No such agent was added.", { entity: "agent" })
      await custom.put(agent)
      await refresh()
    },
    async remove(id: AgentId): Promise<void> {
      await custom.remove(id)
      await variables.removeAll(id)
      await refresh()
    },
    async putVariable(id: AgentId, name: string, value: string | null): Promise<void> {
      if (!(await refresh()).has(id)) throw new AppError("NOT_FOUND", "There is no such agent.", { entity: "agent" })
      await variables.put(id, name, value)
    },
    async install(id: AgentId): Promise<void> {
      const agent = (await refresh()).get(id)?.definition
      if (!agent) throw new AppError("NOT_FOUND", "There is no such agent.", { entity: "agent" })
      installs.start(agent)
    },
    close: () => installs.close(),
  }
}
export type AgentRegistry = Awaited<ReturnType<typeof createAgentRegistry>>

/** Of a session whose agent has been removed: everything about it can be read, nothing can be started. */
const unknownAgent = (id: AgentId): AgentDefinition =>
  defineAgent({ id, name: id, description: "", native_session_resume: false, history_context_injection: false })

/** What the live agent answered goes before what is declared; what it cannot load can still be handed to it. */
export function comesBack(agent: AgentDefinition, observedNative: boolean | null): ComesBack {
  if (observedNative ?? agent.native_session_resume) return "native"
  return agent.history_context_injection ? "injected" : "none"
}

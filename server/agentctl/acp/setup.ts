import { AgentCommand, type AgentOption, type AgentSetup, AgentUsage, SignInMethod } from "../../../lib/contracts/agent-setup"
import { isObject } from "./updates"

type Json = Record<string, unknown>

/** Agents from before configuration options have modes, set by a method of their own. Among the options they are one called so. */
export const MODE_OPTION = "@mode"

/** What the answer to session/new, load or resume offers to set. An agent that gives its modes both ways means the options. */
export function readOptions(answer: unknown): AgentOption[] {
  if (!isObject(answer)) return []
  const options = readConfigOptions(answer.configOptions) ?? []
  const mode = options.some(({ category }) => category === "mode") ? null : readModes(answer.modes)
  return mode ? [mode, ...options] : options
}

/** What a session/update changes of it; null when it is about something else, or not understood. */
export function setupAfter(setup: AgentSetup, update: unknown): AgentSetup | null {
  if (!isObject(update)) return null
  switch (update.sessionUpdate) {
    case "current_mode_update": {
      const current = update.currentModeId
      if (typeof current !== "string") return null
      return { ...setup, options: setup.options.map((option) => (isModes(option) ? { ...option, current } : option)) }
    }
    case "config_option_update": {
      const options = readConfigOptions(update.configOptions)
      return options && withOptions(setup, options)
    }
    case "available_commands_update": {
      const commands = readCommands(update.availableCommands)
      return commands && { ...setup, commands }
    }
    default:
      return null
  }
}

/** The agent's whole list, which does not name the older kind of modes. */
export function withOptions(setup: AgentSetup, options: AgentOption[]): AgentSetup {
  const modes = options.some(({ category }) => category === "mode") ? [] : setup.options.filter(({ id }) => id === MODE_OPTION)
  return { ...setup, options: [...modes, ...options] }
}

export function readUsage(update: unknown): AgentUsage | null {
  if (!isObject(update) || update.sessionUpdate !== "usage_update") return null
  const usage = AgentUsage.safeParse({ used: update.used, size: update.size, cost: update.cost ?? null })
  return usage.success ? usage.data : null
}

export function readSignIn(methods: unknown): SignInMethod[] {
  return objects(methods).flatMap((method) => {
    const { id, name } = method
    const parsed = SignInMethod.safeParse({ id, name, description: textOrNull(method.description), terminal: readTerminal(method) })
    return parsed.success ? [parsed.data] : []
  })
}

function readTerminal({ type, args, env }: Json): SignInMethod["terminal"] {
  if (type !== "terminal") return null
  const values = Object.entries(isObject(env) ? env : {}).filter((pair): pair is [string, string] => typeof pair[1] === "string")
  return { args: Array.isArray(args) ? args.filter((arg) => typeof arg === "string") : [], env: Object.fromEntries(values) }
}

/** Null when it is no list of options; one that is not understood is left out. */
export function readConfigOptions(value: unknown): AgentOption[] | null {
  if (!Array.isArray(value)) return null
  return objects(value).flatMap((option) => readOption(option) ?? [])
}

function readOption(option: Json): AgentOption | null {
  const { id, name, type, currentValue } = option
  if (typeof id !== "string" || typeof name !== "string") return null
  const shared = { id, name, description: textOrNull(option.description), category: textOrNull(option.category) }
  if (type === "boolean" && typeof currentValue === "boolean") return { ...shared, type, current: currentValue }
  if (type !== "select" || typeof currentValue !== "string") return null
  return { ...shared, type, current: currentValue, choices: objects(option.options).flatMap((entry) => readChoices(entry)) }
}

type Choice = Extract<AgentOption, { type: "select" }>["choices"][number]
/** A choice, or a named group of them. */
function readChoices(entry: Json, group: string | null = null): Choice[] {
  if (Array.isArray(entry.options)) return objects(entry.options).flatMap((choice) => readChoices(choice, textOrNull(entry.name)))
  if (typeof entry.value !== "string") return []
  return [{ value: entry.value, name: textOrNull(entry.name) ?? entry.value, description: textOrNull(entry.description), group }]
}

function readModes(modes: unknown): AgentOption | null {
  if (!isObject(modes) || typeof modes.currentModeId !== "string") return null
  const choices = objects(modes.availableModes).flatMap(({ id, name, description }) =>
    typeof id === "string" ? [{ value: id, name: textOrNull(name) ?? id, description: textOrNull(description), group: null }] : [],
  )
  return {
    id: MODE_OPTION,
    name: "Mode",
    description: null,
    category: "mode",
    type: "select",
    current: modes.currentModeId,
    choices,
  }
}

/** Agents that moved from modes to options may still tell of a change the old way. */
const isModes = (option: AgentOption): option is Extract<AgentOption, { type: "select" }> =>
  option.type === "select" && (option.id === MODE_OPTION || option.category === "mode")

function readCommands(value: unknown): AgentCommand[] | null {
  if (!Array.isArray(value)) return null
  return objects(value).flatMap(({ name, description, input }) => {
    const hint = isObject(input) ? textOrNull(input.hint) : null
    const command = AgentCommand.safeParse({ name, description: textOrNull(description) ?? "", hint })
    return command.success ? [command.data] : []
  })
}

const objects = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isObject) : [])
const textOrNull = (value: unknown): string | null => (typeof value === "string" ? value : null)

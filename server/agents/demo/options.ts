import type { AvailableCommand, SessionConfigOption, SessionModeState } from "@agentclientprotocol/sdk"

export const MODES = [
  { id: "ask", name: "Ask first", description: "Asks before it runs anything." },
  { id: "auto", name: "Go ahead", description: "Runs what you say without asking." },
  { id: "plan", name: "Plan only", description: "Changes nothing." },
] as const
export type Mode = (typeof MODES)[number]["id"]

/** What a person has set. It is forgotten with the process, as by many agents: whoever brings it back has to set it again. */
export interface Choices {
  mode: Mode
  aloud: boolean
}
export const FIRST_CHOICES: Choices = { mode: "ask", aloud: false }

export const asOptions = ({ mode, aloud }: Choices): SessionConfigOption[] => [
  {
    id: "mode",
    name: "Mode",
    category: "mode",
    type: "select",
    currentValue: mode,
    options: MODES.map(({ id, name, description }) => ({ value: id, name, description })),
  },
  {
    id: "aloud",
    name: "Think aloud",
    description: "Say what it thinks before each answer.",
    category: "thought_level",
    type: "boolean",
    currentValue: aloud,
  },
]

/** The older way, for clients and agents that do not know options. */
export const asModes = ({ mode }: Choices): SessionModeState => ({
  currentModeId: mode,
  availableModes: MODES.map((known) => ({ ...known })),
})

/** Null: there is no such choice. */
export function chosen(choices: Choices, id: string, value: unknown): Choices | null {
  const mode = id === "mode" ? MODES.find((known) => known.id === value)?.id : undefined
  if (mode) return { ...choices, mode }
  return id === "aloud" && typeof value === "boolean" ? { ...choices, aloud: value } : null
}

export const COMMANDS: AvailableCommand[] = [
  { name: "help", description: "Say what I can do" },
  { name: "remember", description: "Keep a word in my memory", input: { hint: "WORD" } },
  { name: "recall", description: "Tell all the words of this conversation" },
  { name: "plan", description: "Show a plan" },
  { name: "run", description: "Run a command in the workspace", input: { hint: "COMMAND" } },
]

import { z } from "zod"
import { isTypable } from "./typed-line"

/** One thing that can be set about a live agent: its mode, its model, how hard it thinks. In the agent's own words. */
const Shared = { id: z.string(), name: z.string(), description: z.string().nullable(), category: z.string().nullable() }
export const AgentOption = z.discriminatedUnion("type", [
  z.object({
    ...Shared,
    type: z.literal("select"),
    current: z.string(),
    choices: z.array(z.object({ value: z.string(), name: z.string(), description: z.string().nullable(), group: z.string().nullable() })),
  }),
  z.object({ ...Shared, type: z.literal("boolean"), current: z.boolean() }),
])
export type AgentOption = z.infer<typeof AgentOption>

export const AgentCommand = z.object({ name: z.string(), description: z.string(), hint: z.string().nullable() })
export type AgentCommand = z.infer<typeof AgentCommand>

/** They become part of a command line: quotes do not protect a shell from a name. */
const VariableName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/)
const Typable = z.string().refine(isTypable, "must not contain control characters")

/** How a person can sign an agent in: by a call that it carries out itself, or by a program of its own in a terminal. */
export const SignInMethod = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  /** What its own program is started with there; null: it is told by a call. */
  terminal: z.object({ args: z.array(Typable), env: z.record(VariableName, Typable) }).nullable(),
})
export type SignInMethod = z.infer<typeof SignInMethod>

/** As a person is offered it: `command_line` is typed into a terminal of the session's host; null: the agent sees to it itself. */
export const SignInWay = SignInMethod.omit({ terminal: true }).extend({ command_line: z.string().nullable() })
export type SignInWay = z.infer<typeof SignInWay>

/** What a live agent offers, complete each time it is told. */
export const AgentSetup = z.object({
  options: z.array(AgentOption),
  commands: z.array(AgentCommand),
  sign_in: z.array(SignInMethod),
  /** The MCP servers that were meant for it; one of a kind it cannot use was not given. */
  mcp_servers: z.array(z.object({ name: z.string(), given: z.boolean() })),
})
export type AgentSetup = z.infer<typeof AgentSetup>

/** Values by option id. */
export const OptionValues = z.record(z.string(), z.union([z.string(), z.boolean()]))
export type OptionValues = z.infer<typeof OptionValues>

/** An option that could not be set, and why: the agent's words, or that it does not offer it any more. */
export const RefusedOption = z.object({ id: z.string(), name: z.string(), value: z.union([z.string(), z.boolean()]), reason: z.string() })
export type RefusedOption = z.infer<typeof RefusedOption>

/** How much of the agent's context is taken, and what the conversation has cost, where it tells. */
export const AgentUsage = z.object({
  used: z.number(),
  size: z.number(),
  cost: z.object({ amount: z.number(), currency: z.string() }).nullable(),
})
export type AgentUsage = z.infer<typeof AgentUsage>

/** GET and PATCH /api/v1/sessions/{id}/setup. Everything is as last told; a sleeping agent is given `pending` when it is started. */
export const SessionSetup = z.object({
  /** It is no older than this event of the log. */
  last_seq: z.number().int(),
  options: z.array(AgentOption),
  commands: z.array(AgentCommand),
  mcp_servers: AgentSetup.shape.mcp_servers,
  usage: AgentUsage.nullable(),
  /** Chosen, and not in force yet. */
  pending: OptionValues,
  /** Null while it is signed in, as far as is known. */
  sign_in: z.object({ message: z.string(), methods: z.array(SignInWay) }).nullable(),
})
export type SessionSetup = z.infer<typeof SessionSetup>
export const PatchSetup = z.object({
  options: OptionValues.refine((values) => Object.keys(values).length > 0, "must name an option"),
})

/** What an agent without anything to set offers. */
export const NO_SETUP: AgentSetup = { options: [], commands: [], sign_in: [], mcp_servers: [] }

/** The values in force; given to the next process of the agent, which may have forgotten them. */
export const valuesOf = (setup: AgentSetup): OptionValues => Object.fromEntries(setup.options.map(({ id, current }) => [id, current]))

/** Null: it can be set so. */
export function whyNot(setup: AgentSetup, id: string, value: string | boolean): string | null {
  const option = setup.options.find((candidate) => candidate.id === id)
  if (!option) return "The agent does not offer this option."
  if (option.type === "boolean") return typeof value === "boolean" ? null : "It is either on or off."
  return option.choices.some((choice) => choice.value === value) ? null : "The agent does not offer this choice."
}

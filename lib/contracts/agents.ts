import { z } from "zod"
import { AgentId } from "./task"

export const ComesBack = z.enum(["native", "injected", "none"])
export type ComesBack = z.infer<typeof ComesBack>

/** How far an installation is; `percent` is of the packages that have to be fetched, null while that is not known. */
export const InstallState = z.discriminatedUnion("state", [
  z.object({ state: z.literal("running"), step: z.string(), percent: z.number().nullable() }),
  z.object({ state: z.literal("failed"), message: z.string() }),
])
export type InstallState = z.infer<typeof InstallState>

export const AgentInfo = z.object({
  id: AgentId,
  name: z.string(),
  description: z.string(),
  available: z.boolean(),
  unavailable_reason: z.string().nullable(),
  comes_back: ComesBack,
  /** `observed`: what the live agent answered the last time it ran here; `declared`: it has not been asked yet. */
  comes_back_by: z.enum(["declared", "observed"]),
  /** A conversation it did not have itself can be handed to it. */
  takes_history: z.boolean(),
  /** It can run in a terminal of its own, here and now. */
  terminal: z.boolean(),
  /** There it can go on from a copy of a conversation. */
  terminal_forks: z.boolean(),
  custom: z.boolean(),
  /** Where its program was found. */
  found: z.enum(["built_in", "path", "installed"]).nullable(),
  /** It can be brought here from npm, which is asked for and never done by itself. */
  installable: z.boolean(),
  install: InstallState.nullable(),
})
export type AgentInfo = z.infer<typeof AgentInfo>

const Variable = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,99}$/, "must be a name of letters, digits and underscores")
const argument = z
  .string()
  .max(4096)
  .regex(/^[^\0]*$/, "must not contain a NUL")
const command = argument.trim().min(1, "must not be empty").pipe(z.string().max(4096))

const args = z.array(argument).max(100).default([])
const names = (words: readonly string[], placeholder: string) => words.some((word) => word.includes(placeholder))

/**
 * What is added to the command when a tab begins, comes back, or is forked. `{id}` stands for a UUID that is the tab's own, `{from}` for
 * the one it is forked from. Without `{id}`, continuing means the newest conversation of the folder.
 */
const TerminalAgentProgram = z
  .object({ command, args, begin_args: args, continue_args: args, fork_args: args })
  .refine((program) => names(program.begin_args, "{id}") === names(program.continue_args, "{id}"), {
    message: "begin_args and continue_args must both name {id}, or neither",
  })
  .refine((program) => program.fork_args.length === 0 || (names(program.fork_args, "{id}") && names(program.fork_args, "{from}")), {
    message: "fork_args must name {from} and {id}",
  })
  .refine((program) => program.fork_args.length === 0 || names(program.begin_args, "{id}"), {
    message: "fork_args need begin_args and continue_args that name {id}",
  })
  .refine((program) => ![...program.begin_args, ...program.continue_args].some((word) => word.includes("{from}")), {
    message: "{from} belongs into fork_args",
  })

/** Any command that speaks the Agent Client Protocol on its stdio, runs in a terminal, or both. */
export const CustomAgent = z
  .object({
    id: AgentId,
    name: z.string().trim().min(1, "must not be empty").max(80),
    description: z.string().trim().max(300).default(""),
    acp: z.object({ command, args }).nullable().default(null),
    terminal: TerminalAgentProgram.nullable().default(null),
    /** May the conversation be handed to it when it cannot load its own? */
    history_context_injection: z.boolean().default(true),
  })
  .refine((agent) => agent.acp !== null || agent.terminal !== null, { message: "needs a command, for the protocol or for a terminal" })
export type CustomAgent = z.infer<typeof CustomAgent>

/** Names and times only: a value that was set is never shown again. */
export const AgentVariable = z.object({ name: z.string(), updated_at: z.string() })
export type AgentVariable = z.infer<typeof AgentVariable>
/** Null takes the variable away. */
export const PutVariable = z.object({ name: Variable, value: argument.max(32_768).nullable() })

/** What an admin sees of an agent beyond what everybody does. */
export const AgentSettings = AgentInfo.extend({
  keys: z.array(z.string()),
  variables: z.array(AgentVariable),
  packages: z.array(z.object({ name: z.string(), version: z.string() })),
  /** Null for one that is built in or comes from the configuration file. */
  definition: CustomAgent.nullable(),
})
export type AgentSettings = z.infer<typeof AgentSettings>

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

/** Any command that speaks the Agent Client Protocol on its stdio, runs in a terminal, or both. */
export const CustomAgent = z
  .object({
    id: AgentId,
    name: z.string().trim().min(1, "must not be empty").max(80),
    description: z.string().trim().max(300).default(""),
    acp: z
      .object({ command, args: z.array(argument).max(100).default([]) })
      .nullable()
      .default(null),
    terminal: z
      .object({ command, args: z.array(argument).max(100).default([]), continue_args: z.array(argument).max(100).default([]) })
      .nullable()
      .default(null),
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

import { z } from "zod"

/** One of the agent's own session files (or a folder of them): where it lies on this host, and its name inside the archive. */
export const AgentFile = z.object({
  path: z.string().startsWith("/"),
  as: z.string().regex(/^[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}$/),
  /** Of a folder: only the files whose names end so, for an agent that keeps all conversations in one. */
  ending: z.string().min(1).optional(),
})
export type AgentFile = z.infer<typeof AgentFile>

/**
 * A command of the agent's own, run without a shell and not for ever. `{file}` among its arguments is a file's path: the one it is to
 * read, which holds `input`, or the conversation that was unpacked.
 */
export const AgentCommand = z.object({ file: z.string(), args: z.array(z.string()), env: z.record(z.string(), z.string()) })
export type AgentCommand = z.infer<typeof AgentCommand>

/** POST /sessions/{id}/agent-command: runs it in the workspace and gives what it said; `failure` is why it ended otherwise. */
export const AskAgentCommand = z.object({ command: AgentCommand, input: z.string(), time_limit_ms: z.number().int().positive() })
export type AskAgentCommand = z.infer<typeof AskAgentCommand>
export const AgentCommandAnswer = z.object({ failure: z.string().nullable(), output: z.string() })

/** For an agent that keeps its conversations in a database: what writes one to its output, or reads it again, and its name in the archive. */
export const CarriedConversation = z.object({ command: AgentCommand, as: AgentFile.shape.as })
export type CarriedConversation = z.infer<typeof CarriedConversation>

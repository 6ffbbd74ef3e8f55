import { z } from "zod"

/** One of the agent's own session files (or a folder of them): where it lies on this host, and its name inside the archive. */
export const AgentFile = z.object({
  path: z.string().startsWith("/"),
  as: z.string().regex(/^[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}$/),
  /** Of a folder: only the files whose names end so, for an agent that keeps all conversations in one. */
  ending: z.string().min(1).optional(),
})
export type AgentFile = z.infer<typeof AgentFile>

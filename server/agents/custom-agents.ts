import { readFileSync } from "node:fs"
import { z } from "zod"
import { CustomAgent } from "../../lib/contracts/agents"
import { AppError } from "../../lib/contracts/errors"
import { insert, type Journal, remove } from "../journal"
import type { Clock } from "../platform/clock"
import { readColumn } from "../platform/columns"
import { ConfigError } from "../platform/config"
import type { Database } from "../platform/database"
import { type AgentDefinition, defineAgent, type TerminalProgram } from "./agent"

/** What the configuration file lists; a missing file lists nothing. What is wrong in it is told at the start, not when it is used. */
export function readAgentsFile(path: string): CustomAgent[] {
  let text: string
  try {
    text = readFileSync(path, "utf8")
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return []
    throw new ConfigError(`AGENTS_FILE: ${path} cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new ConfigError(`AGENTS_FILE: ${path} is not JSON: ${(error as Error).message}`)
  }
  const parsed = z.array(CustomAgent).safeParse(value)
  if (parsed.success) return parsed.data
  throw new ConfigError(parsed.error.issues.map((issue) => `AGENTS_FILE: ${issue.path.join(".")}: ${issue.message}`).join("\n"))
}

export const definitionOf = (agent: CustomAgent): AgentDefinition =>
  defineAgent({
    id: agent.id,
    name: agent.name,
    description: agent.description,
    acp: agent.acp && { program: agent.acp.command, args: agent.acp.args },
    terminal: agent.terminal && terminalOf(agent.terminal),
    native_session_resume: false,
    history_context_injection: agent.history_context_injection,
  })

function terminalOf({ command, args, begin_args, continue_args, fork_args }: NonNullable<CustomAgent["terminal"]>): TerminalProgram {
  const named = continue_args.some((word) => word.includes("{id}"))
  return {
    ...{ program: command, args, begin: begin_args },
    again: named ? continue_args : null,
    newest: named || continue_args.length === 0 ? null : continue_args,
    fork: fork_args.length > 0 ? fork_args : null,
  }
}

/** The agents admins have added. Each is one row; the newest writing stands. */
export function createCustomAgents({ db, journal, clock }: { db: Database; journal: Journal; clock: Clock }) {
  return {
    async list(): Promise<CustomAgent[]> {
      const rows = await db.customAgent.findMany({ orderBy: { id: "asc" } })
      return rows.flatMap(({ id, definition }) => readColumn(`custom_agents.definition ${id}`, definition, CustomAgent, []))
    },
    async put(agent: CustomAgent): Promise<void> {
      const row = { id: agent.id, definition: JSON.stringify(agent), updated_at: clock.now().toISOString() }
      await journal.write([remove("custom_agents", { id: agent.id }), insert("custom_agents", row)])
    },
    async remove(id: string): Promise<void> {
      if (!(await db.customAgent.findUnique({ where: { id } })))
        throw new AppError("NOT_FOUND", "No such agent was added.", { entity: "agent" })
      await journal.write([remove("custom_agents", { id })])
    },
  }
}
export type CustomAgents = ReturnType<typeof createCustomAgents>

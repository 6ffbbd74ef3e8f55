import type { AgentVariable } from "../../lib/contracts/agents"
import { AppError } from "../../lib/contracts/errors"
import { insert, type Journal, remove } from "../journal"
import type { Clock } from "../platform/clock"
import type { Database } from "../platform/database"
import { createSealing } from "./sealing"

/** Keys and settings of one agent: sealed in the database, opened only for that agent's start, shown to nobody. */
export function createAgentVariables({ db, journal, clock, secret }: { db: Database; journal: Journal; clock: Clock; secret: string }) {
  const sealing = createSealing(secret, "rewake agent variables")

  return {
    async put(agentId: string, name: string, value: string | null): Promise<void> {
      const updated_at = clock.now().toISOString()
      await journal.write([
        remove("agent_variables", { agent_id: agentId, name }),
        ...(value === null
          ? []
          : [insert("agent_variables", { agent_id: agentId, name, sealed: sealing.seal([agentId, name], value), updated_at })]),
      ])
    },
    removeAll: (agentId: string) => journal.write([remove("agent_variables", { agent_id: agentId })]),
    async names(): Promise<Map<string, AgentVariable[]>> {
      const rows = await db.agentVariable.findMany({ orderBy: [{ agent_id: "asc" }, { name: "asc" }] })
      const byAgent = new Map<string, AgentVariable[]>()
      for (const { agent_id, name, updated_at } of rows) byAgent.set(agent_id, [...(byAgent.get(agent_id) ?? []), { name, updated_at }])
      return byAgent
    },
    /** The environment of this agent's next process. */
    async of(agentId: string): Promise<Record<string, string>> {
      const rows = await db.agentVariable.findMany({ where: { agent_id: agentId } })
      return Object.fromEntries(
        rows.map(({ name, sealed }) => {
          try {
            return [name, sealing.open([agentId, name], sealed)]
          } catch {
            throw new AppError("AGENT_UNAVAILABLE", `The stored ${name} cannot be read, since AUTH_SECRET has changed. Set it again.`, {
              agent: agentId,
            })
          }
        }),
      )
    },
  }
}
export type AgentVariables = ReturnType<typeof createAgentVariables>

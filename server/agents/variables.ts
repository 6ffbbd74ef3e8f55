import type { AgentVariable } from "../../lib/contracts/agents"
import { AppError } from "../../lib/contracts/errors"
import { type Change, insert, type Journal, remove, updateAny } from "../journal"
import type { Clock } from "../platform/clock"
import type { Config } from "../platform/config"
import type { Database } from "../platform/database"
import { createSealing } from "../platform/sealing"

type Deps = { db: Database; journal: Journal; clock: Clock; secrets: Config["auth_secrets"] }

/** Keys and settings of one agent: sealed in the database, opened only for that agent's start, shown to nobody. */
export function createAgentVariables({ db, journal, clock, secrets }: Deps) {
  const sealing = createSealing(secrets, "rewake agent variables")

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
    /** The changes that seal again what an older secret sealed. */
    resealed: async (): Promise<Change[]> =>
      sealing.reseal(
        await db.agentVariable.findMany(),
        ({ agent_id, name }) => [agent_id, name],
        ({ agent_id, name, sealed }, anew) => updateAny("agent_variables", { agent_id, name, sealed }, { sealed: anew }),
      ),
  }
}
export type AgentVariables = ReturnType<typeof createAgentVariables>

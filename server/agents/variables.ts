import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto"
import type { AgentVariable } from "../../lib/contracts/agents"
import { AppError } from "../../lib/contracts/errors"
import { insert, type Journal, remove } from "../journal"
import type { Clock } from "../platform/clock"
import type { Database } from "../platform/database"

const ALGORITHM = "aes-256-gcm"
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Keys and settings of one agent: sealed in the database, opened only for that agent's start, shown to nobody. */
export function createAgentVariables({ db, journal, clock, secret }: { db: Database; journal: Journal; clock: Clock; secret: string }) {
  const key = Buffer.from(hkdfSync("sha256", secret, "", "rewake agent variables", 32))
  // Bound to its place: a row moved to another agent or name does not open.
  const placeOf = (agentId: string, name: string) => Buffer.from(JSON.stringify([agentId, name]))

  function seal(agentId: string, name: string, value: string): string {
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv(ALGORITHM, key, nonce).setAAD(placeOf(agentId, name))
    const sealed = Buffer.concat([cipher.update(value, "utf8"), cipher.final()])
    return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString("base64url")
  }

  function open(agentId: string, name: string, text: string): string {
    const bytes = Buffer.from(text, "base64url")
    const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, NONCE_BYTES))
      .setAAD(placeOf(agentId, name))
      .setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
    return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]).toString("utf8")
  }

  return {
    async put(agentId: string, name: string, value: string | null): Promise<void> {
      const updated_at = clock.now().toISOString()
      await journal.write([
        remove("agent_variables", { agent_id: agentId, name }),
        ...(value === null ? [] : [insert("agent_variables", { agent_id: agentId, name, sealed: seal(agentId, name, value), updated_at })]),
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
            return [name, open(agentId, name, sealed)]
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

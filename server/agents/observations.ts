import { insert, type Journal, remove } from "../journal"
import type { Database } from "../platform/database"

const PREFIX = "agent_native:"

/** What live agents have answered about coming back by themselves; remembered, so that people are told what is so, not what was declared. */
export async function createObservations({ db, journal }: { db: Database; journal: Journal }) {
  const rows = await db.setting.findMany({ where: { key: { startsWith: PREFIX } } })
  const known = new Map(rows.map(({ key, value }) => [key.slice(PREFIX.length), value === "1"]))
  return {
    native: (agentId: string): boolean | null => known.get(agentId) ?? null,
    async note(agentId: string, native: boolean): Promise<void> {
      if (known.get(agentId) === native) return
      known.set(agentId, native)
      const key = `${PREFIX}${agentId}`
      await journal.write([remove("settings", { key }), insert("settings", { key, value: native ? "1" : "0" })])
    },
  }
}
export type Observations = Awaited<ReturnType<typeof createObservations>>

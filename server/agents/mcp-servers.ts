import { z } from "zod"
import type { McpServer } from "../../lib/contracts/agentctl/protocol"
import { AppError } from "../../lib/contracts/errors"
import { McpServerDefinition, type McpServerView } from "../../lib/contracts/mcp"
import { type Change, insert, type Journal, remove, updateAny } from "../journal"
import type { Clock } from "../platform/clock"
import { readColumn } from "../platform/columns"
import type { Config } from "../platform/config"
import type { Database } from "../platform/database"
import { createSealing } from "../platform/sealing"

type Deps = { db: Database; journal: Journal; clock: Clock; secrets: Config["auth_secrets"] }

/** The MCP servers that every agent is given. Their variables and headers are keys: sealed in the database, shown to nobody. */
export function createMcpServers({ db, journal, clock, secrets }: Deps) {
  const sealing = createSealing(secrets, "rewake mcp servers")
  const rows = () => db.mcpServer.findMany({ orderBy: { name: "asc" } })

  const readable = async () =>
    (await rows()).flatMap((row) => {
      const server = readColumn(`mcp_servers.definition ${row.name}`, row.definition, McpServerDefinition, null)
      return server ? [{ ...row, server }] : []
    })

  function open(name: string, sealed: string): Record<string, string> {
    try {
      return JSON.parse(sealing.open([name], sealed)) as Record<string, string>
    } catch {
      const message = `The keys of the MCP server ${name} cannot be read, since AUTH_SECRET has changed. Set them again.`
      throw new AppError("NOT_READY", message, {})
    }
  }

  return {
    async list(): Promise<McpServerView[]> {
      return (await readable()).map(({ server, secrets, name }) => {
        // Their names are told also when their values cannot be read any more.
        return { ...server, name, secrets: readColumn(`mcp_servers.secrets ${name}`, secrets, z.array(z.string()), []) }
      })
    },
    /** What an agent is given with its conversation. */
    async given(): Promise<McpServer[]> {
      return (await readable()).map(({ name, server, sealed }): McpServer => {
        const values = open(name, sealed)
        return server.transport === "stdio" ? { ...server, name, env: values } : { ...server, name, headers: values }
      })
    },
    async put(name: string, server: McpServerDefinition, values: Record<string, string>): Promise<void> {
      const row = {
        name,
        definition: JSON.stringify(server),
        secrets: JSON.stringify(Object.keys(values)),
        sealed: sealing.seal([name], JSON.stringify(values)),
        updated_at: clock.now().toISOString(),
      }
      await journal.write([remove("mcp_servers", { name }), insert("mcp_servers", row)])
    },
    async remove(name: string): Promise<void> {
      if (!(await db.mcpServer.findUnique({ where: { name } })))
        throw new AppError("NOT_FOUND", "There is no such MCP server.", { entity: "mcp_server" })
      await journal.write([remove("mcp_servers", { name })])
    },
    /** The changes that seal again what an older secret sealed. */
    resealed: async (): Promise<Change[]> =>
      sealing.reseal(
        await rows(),
        ({ name }) => [name],
        ({ name, sealed }, anew) => updateAny("mcp_servers", { name, sealed }, { sealed: anew }),
      ),
  }
}
export type McpServers = ReturnType<typeof createMcpServers>

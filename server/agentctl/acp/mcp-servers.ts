import type { McpServer as Given, McpCapabilities } from "@agentclientprotocol/sdk"
import type { McpServer } from "../../../lib/contracts/agentctl/protocol"
import { secretsIn } from "./agent-process"

/** Every agent takes those that are programs; the others only if it says so. */
export const acceptable = (servers: readonly McpServer[], can: McpCapabilities): Given[] =>
  servers.filter(({ transport }) => transport === "stdio" || can[transport] === true).map(toGiven)

function toGiven(server: McpServer): Given {
  const { name } = server
  if (server.transport !== "stdio") return { type: server.transport, name, url: server.url, headers: pairs(server.headers) }
  return { name, command: server.command, args: server.args, env: pairs(server.env) }
}

const pairs = (values: Record<string, string>) => Object.entries(values).map(([name, value]) => ({ name, value }))

export const mcpSecrets = (servers: readonly McpServer[]): string[] =>
  servers.flatMap((server) => secretsIn(server.transport === "stdio" ? server.env : server.headers))

import { z } from "zod"
import { McpServerName, PutMcpServer } from "@/lib/contracts/mcp"
import { route } from "@/server/http/route"

const Params = z.object({ name: McpServerName })

export const PUT = route({ admin: true, params: Params, body: PutMcpServer, status: 204 }, ({ services, params, body }) =>
  services.mcpServers.put(params.name, body.server, body.values),
)
export const DELETE = route({ admin: true, params: Params, status: 204 }, ({ services, params }) => services.mcpServers.remove(params.name))

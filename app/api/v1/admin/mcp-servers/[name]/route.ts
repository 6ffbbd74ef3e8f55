import { route } from "@/server/http/route"

export const PUT = route("PUT /api/v1/admin/mcp-servers/{name}", ({ services, params, body }) =>
  services.mcpServers.put(params.name, body.server, body.values),
)
export const DELETE = route("DELETE /api/v1/admin/mcp-servers/{name}", ({ services, params }) => services.mcpServers.remove(params.name))

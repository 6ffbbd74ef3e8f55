import { route } from "@/server/http/route"

export const GET = route("GET /api/v1/admin/mcp-servers", async ({ services }) => ({ items: await services.mcpServers.list() }))

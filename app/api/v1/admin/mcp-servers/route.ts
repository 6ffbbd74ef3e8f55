import { route } from "@/server/http/route"

export const GET = route({ admin: true }, async ({ services }) => ({ items: await services.mcpServers.list() }))

import { route } from "@/server/http/route"

export const GET = route("GET /api/v1/agents", async ({ services }) => ({ items: await services.agents.list() }))

import { CustomAgent } from "@/lib/contracts/agents"
import { route } from "@/server/http/route"

export const GET = route({ admin: true }, async ({ services }) => ({ items: await services.agents.settings() }))
export const POST = route({ admin: true, body: CustomAgent, status: 204 }, ({ services, body }) => services.agents.add(body))

import { route } from "@/server/http/route"

export const POST = route("POST /api/v1/agents/{agentId}/install", async ({ services, params }) => {
  await services.agents.install(params.agentId)
  return {}
})

import { route } from "@/server/http/route"

export const PUT = route("PUT /api/v1/admin/agents/{agentId}/variables", async ({ services, params, body, trail }) => {
  await services.agents.putVariable(params.agentId, body.name, body.value)
  await services.audit.write([trail.entry({ details: { name: body.name, removed: body.value === null } })])
})

import { route } from "@/server/http/route"

export const PUT = route("PUT /api/v1/admin/agents/{agentId}", ({ services, params, body }) =>
  services.agents.change({ ...body, id: params.agentId }),
)
export const DELETE = route("DELETE /api/v1/admin/agents/{agentId}", ({ services, params }) => services.agents.remove(params.agentId))

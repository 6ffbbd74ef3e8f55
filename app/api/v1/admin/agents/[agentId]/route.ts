import { z } from "zod"
import { CustomAgent } from "@/lib/contracts/agents"
import { AgentId } from "@/lib/contracts/task"
import { route } from "@/server/http/route"

const Params = z.object({ agentId: AgentId })

export const PUT = route({ admin: true, params: Params, body: CustomAgent, status: 204 }, ({ services, params, body }) =>
  services.agents.change({ ...body, id: params.agentId }),
)
export const DELETE = route({ admin: true, params: Params, status: 204 }, ({ services, params }) => services.agents.remove(params.agentId))

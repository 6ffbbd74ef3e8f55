import { z } from "zod"
import { PutVariable } from "@/lib/contracts/agents"
import { AgentId } from "@/lib/contracts/task"
import { route } from "@/server/http/route"

const Params = z.object({ agentId: AgentId })

export const PUT = route({ admin: true, params: Params, body: PutVariable, status: 204 }, ({ services, params, body }) =>
  services.agents.putVariable(params.agentId, body.name, body.value),
)

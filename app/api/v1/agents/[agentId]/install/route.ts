import { z } from "zod"
import { AgentId } from "@/lib/contracts/task"
import { route } from "@/server/http/route"

const Params = z.object({ agentId: AgentId })

export const POST = route({ admin: true, params: Params, status: 202 }, async ({ services, params }) => {
  await services.agents.install(params.agentId)
  return {}
})

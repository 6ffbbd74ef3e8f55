import { route } from "@/server/http/route"

export const GET = route("GET /api/v1/admin/agents", async ({ services }) => ({ items: await services.agents.settings() }))
export const POST = route("POST /api/v1/admin/agents", ({ services, body, trail }) => {
  trail.about(body.id)
  return services.agents.add(body)
})

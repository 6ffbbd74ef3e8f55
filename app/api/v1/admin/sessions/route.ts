import { route } from "@/server/http/route"

export const GET = route("GET /api/v1/admin/sessions", ({ services, query }) => services.admin.listSessions(query))
export const POST = route("POST /api/v1/admin/sessions", async ({ services, body, trail }) => {
  await services.admin.act(body.session_id, body.action)
  await services.audit.write([trail.entry({ target: body.session_id, details: { action: body.action } })])
  return { session_id: body.session_id }
})

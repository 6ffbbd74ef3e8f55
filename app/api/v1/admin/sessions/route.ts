import { AdminAct, AdminSessionsQuery } from "@/lib/contracts/admin"
import { route } from "@/server/http/route"

export const GET = route({ admin: true, query: AdminSessionsQuery }, ({ services, query }) => services.admin.listSessions(query))
export const POST = route({ admin: true, body: AdminAct, status: 202 }, async ({ services, body }) => {
  await services.admin.act(body.session_id, body.action)
  return { session_id: body.session_id }
})

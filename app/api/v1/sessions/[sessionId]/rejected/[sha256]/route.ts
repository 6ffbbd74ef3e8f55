import { route, streamOf } from "@/server/http/route"

export const GET = route("GET /api/v1/sessions/{sessionId}/rejected/{sha256}", async ({ services, person, params }) => {
  const { headers, content } = await services.workspace.rejected(person, params.sessionId, params.sha256)
  return new Response(streamOf(content), { headers })
})

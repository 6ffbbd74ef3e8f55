import { PTY_OFFSET_HEADER } from "@/lib/contracts/agentctl/ptys"
import { route, streamOf } from "@/server/http/route"

export const GET = route("GET /api/v1/sessions/{sessionId}/workers/{workerId}/history", async ({ services, person, params, query }) => {
  const { offset, content } = await services.workers.history(person, params.sessionId, params.workerId, query)
  return new Response(streamOf(content), { headers: { "content-type": "application/octet-stream", [PTY_OFFSET_HEADER]: String(offset) } })
})

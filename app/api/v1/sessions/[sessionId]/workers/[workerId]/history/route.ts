import { PTY_OFFSET_HEADER } from "@/lib/contracts/agentctl/ptys"
import { HistoryQuery } from "@/lib/contracts/workers"
import { route, streamOf, WorkerParams } from "@/server/http/route"

export const GET = route({ params: WorkerParams, query: HistoryQuery }, async ({ services, person, params, query }) => {
  const { offset, content } = await services.workers.history(person, params.sessionId, params.workerId, query)
  return new Response(streamOf(content), { headers: { "content-type": "application/octet-stream", [PTY_OFFSET_HEADER]: String(offset) } })
})

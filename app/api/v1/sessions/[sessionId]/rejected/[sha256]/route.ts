import { Sha256 } from "@/lib/contracts/ids"
import { route, SessionParams, streamOf } from "@/server/http/route"

export const GET = route({ params: SessionParams.extend({ sha256: Sha256 }) }, async ({ services, person, params }) => {
  const { headers, content } = await services.workspace.rejected(person, params.sessionId, params.sha256)
  return new Response(streamOf(content), { headers })
})

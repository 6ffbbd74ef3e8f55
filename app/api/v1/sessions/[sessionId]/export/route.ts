import { route, SessionParams, streamOf } from "@/server/http/route"

export const GET = route({ params: SessionParams }, async ({ services, person, params }) => {
  const { name, content } = await services.transfer.export(person, params.sessionId)
  return new Response(streamOf(content), {
    headers: { "content-type": "application/x-tar", "content-disposition": `attachment; filename="${name}"` },
  })
})

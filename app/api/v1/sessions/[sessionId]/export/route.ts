import { route, streamOf } from "@/server/http/route"

export const GET = route("GET /api/v1/sessions/{sessionId}/export", async ({ services, caller, person, params, trail }) => {
  const { name, owner_id, content } = await services.transfer.export(caller, params.sessionId)
  await services.audit.write([trail.entry({ details: { owner_id, of_another_user: owner_id !== person.id } })])
  return new Response(streamOf(content), {
    headers: { "content-type": "application/x-tar", "content-disposition": `attachment; filename="${name}"` },
  })
})

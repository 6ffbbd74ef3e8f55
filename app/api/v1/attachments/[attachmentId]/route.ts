import { route } from "@/server/http/route"

export const GET = route("GET /api/v1/attachments/{attachmentId}", async ({ services, person, params }) => {
  const { headers, content } = await services.attachments.open(person, params.attachmentId)
  return new Response(new Uint8Array(content), { headers })
})

import { z } from "zod"
import { route } from "@/server/http/route"

const Params = z.object({ attachmentId: z.string() })

export const GET = route({ params: Params }, async ({ services, person, params }) => {
  const { headers, content } = await services.attachments.open(person, params.attachmentId)
  return new Response(new Uint8Array(content), { headers })
})

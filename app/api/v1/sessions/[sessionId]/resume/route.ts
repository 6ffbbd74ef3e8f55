import { z } from "zod"
import { route, SessionParams } from "@/server/http/route"

const Resume = z.object({
  fresh: z.boolean().optional(),
  reinstate: z.boolean().optional(),
  sign_in: z.string().optional(),
  resume_token_id: z.string().optional(),
  secret: z.string().optional(),
})

export const POST = route({ params: SessionParams, body: Resume, status: 202 }, ({ services, person, params, body }) =>
  services.sessions.resume(person, params.sessionId, body),
)

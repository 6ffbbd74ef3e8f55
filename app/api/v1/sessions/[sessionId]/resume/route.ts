import { z } from "zod"
import { route, SessionParams } from "@/server/http/route"

const Resume = z.object({ fresh: z.boolean().optional() })

export const POST = route({ params: SessionParams, body: Resume, status: 202 }, ({ services, person, params, body }) =>
  services.sessions.resume(person, params.sessionId, body),
)

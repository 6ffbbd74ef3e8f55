import { route } from "@/server/http/route"

export const POST = route("POST /api/v1/sessions/{sessionId}/resume", ({ services, person, params, body }) =>
  services.sessions.resume(person, params.sessionId, body),
)

import { route } from "@/server/http/route"

export const POST = route("POST /api/v1/sessions/{sessionId}/cancel", ({ services, person, params }) =>
  services.sessions.cancel(person, params.sessionId),
)

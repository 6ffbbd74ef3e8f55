import { route } from "@/server/http/route"

export const POST = route("POST /api/v1/sessions/{sessionId}/abandon", ({ services, person, params }) =>
  services.sessions.abandon(person, params.sessionId),
)

import { route } from "@/server/http/route"

export const GET = route("GET /api/v1/sessions/{sessionId}", ({ services, person, params }) =>
  services.sessions.getSession(person, params.sessionId),
)

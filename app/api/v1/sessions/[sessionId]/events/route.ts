import { route } from "@/server/http/route"

export const GET = route("GET /api/v1/sessions/{sessionId}/events", ({ services, person, params, query }) =>
  services.sessions.events(person, params.sessionId, query),
)

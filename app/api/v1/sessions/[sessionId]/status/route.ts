import { route } from "@/server/http/route"

export const GET = route("GET /api/v1/sessions/{sessionId}/status", ({ services, person, params }) =>
  services.sessions.status(person, params.sessionId),
)

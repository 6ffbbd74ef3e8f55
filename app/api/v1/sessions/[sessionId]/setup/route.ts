import { route } from "@/server/http/route"

export const GET = route("GET /api/v1/sessions/{sessionId}/setup", ({ services, person, params }) =>
  services.sessions.setup(person, params.sessionId),
)
export const PATCH = route("PATCH /api/v1/sessions/{sessionId}/setup", ({ services, person, params, body }) =>
  services.sessions.chooseOptions(person, params.sessionId, body.options),
)

import { route } from "@/server/http/route"

export const POST = route("POST /api/v1/sessions/{sessionId}/stop", ({ services, person, params }) =>
  services.sessions.stop(person, params.sessionId),
)

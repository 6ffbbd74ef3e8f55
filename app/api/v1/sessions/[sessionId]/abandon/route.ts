import { route, SessionParams } from "@/server/http/route"

export const POST = route({ params: SessionParams, status: 202 }, ({ services, person, params }) =>
  services.sessions.abandon(person, params.sessionId),
)

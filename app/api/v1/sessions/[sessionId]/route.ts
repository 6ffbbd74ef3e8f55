import { route, SessionParams } from "@/server/http/route"

export const GET = route({ params: SessionParams }, ({ services, person, params }) =>
  services.sessions.getSession(person, params.sessionId),
)

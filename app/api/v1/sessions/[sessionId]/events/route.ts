import { EventsQuery } from "@/lib/contracts/task"
import { route, SessionParams } from "@/server/http/route"

export const GET = route({ params: SessionParams, query: EventsQuery }, ({ services, person, params, query }) =>
  services.sessions.events(person, params.sessionId, query),
)

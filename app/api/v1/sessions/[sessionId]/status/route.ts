import { route, SessionParams } from "@/server/http/route"

export const GET = route({ params: SessionParams }, ({ services, person, params }) => services.sessions.status(person, params.sessionId))

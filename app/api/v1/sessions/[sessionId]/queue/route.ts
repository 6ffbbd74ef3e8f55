import { route, SessionParams } from "@/server/http/route"

export const GET = route({ params: SessionParams }, async ({ services, person, params }) => ({
  prompts: await services.sessions.queue(person, params.sessionId),
}))

import { route } from "@/server/http/route"

export const GET = route("GET /api/v1/sessions/{sessionId}/queue", async ({ services, person, params }) => ({
  prompts: await services.sessions.queue(person, params.sessionId),
}))

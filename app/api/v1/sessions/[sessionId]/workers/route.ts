import { route } from "@/server/http/route"

export const GET = route("GET /api/v1/sessions/{sessionId}/workers", async ({ services, person, params }) => ({
  workers: await services.workers.list(person, params.sessionId),
}))
export const POST = route("POST /api/v1/sessions/{sessionId}/workers", async ({ services, person, params, body }) => ({
  worker: await services.workers.open(person, params.sessionId, body),
}))

import { route } from "@/server/http/route"

export const GET = route("GET /api/v1/sessions/{sessionId}/workers/{workerId}", ({ services, person, params }) =>
  services.workers.describe(person, params.sessionId, params.workerId),
)
export const PATCH = route("PATCH /api/v1/sessions/{sessionId}/workers/{workerId}", async ({ services, person, params, body }) => ({
  worker: await services.workers.change(person, params.sessionId, params.workerId, body),
}))
export const DELETE = route("DELETE /api/v1/sessions/{sessionId}/workers/{workerId}", ({ services, person, params }) =>
  services.workers.close(person, params.sessionId, params.workerId),
)

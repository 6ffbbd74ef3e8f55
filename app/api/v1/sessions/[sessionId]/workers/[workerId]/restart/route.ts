import { route } from "@/server/http/route"

export const POST = route("POST /api/v1/sessions/{sessionId}/workers/{workerId}/restart", async ({ services, person, params, body }) => ({
  worker: await services.workers.restart(person, params.sessionId, params.workerId, body),
}))

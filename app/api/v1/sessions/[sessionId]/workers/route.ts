import { CreateWorker } from "@/lib/contracts/workers"
import { route, SessionParams } from "@/server/http/route"

export const GET = route({ params: SessionParams }, async ({ services, person, params }) => ({
  workers: await services.workers.list(person, params.sessionId),
}))
export const POST = route({ params: SessionParams, body: CreateWorker, status: 201 }, async ({ services, person, params, body }) => ({
  worker: await services.workers.open(person, params.sessionId, body),
}))

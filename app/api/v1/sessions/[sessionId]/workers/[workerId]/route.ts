import { PatchWorker } from "@/lib/contracts/workers"
import { route, WorkerParams } from "@/server/http/route"

export const GET = route({ params: WorkerParams }, ({ services, person, params }) =>
  services.workers.describe(person, params.sessionId, params.workerId),
)
export const PATCH = route({ params: WorkerParams, body: PatchWorker }, async ({ services, person, params, body }) => ({
  worker: await services.workers.change(person, params.sessionId, params.workerId, body),
}))
export const DELETE = route({ params: WorkerParams, status: 204 }, ({ services, person, params }) =>
  services.workers.close(person, params.sessionId, params.workerId),
)

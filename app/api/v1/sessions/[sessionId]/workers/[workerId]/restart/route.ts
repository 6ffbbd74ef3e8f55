import { RestartWorker } from "@/lib/contracts/workers"
import { route, WorkerParams } from "@/server/http/route"

export const POST = route({ params: WorkerParams, body: RestartWorker, status: 202 }, async ({ services, person, params, body }) => ({
  worker: await services.workers.restart(person, params.sessionId, params.workerId, body),
}))

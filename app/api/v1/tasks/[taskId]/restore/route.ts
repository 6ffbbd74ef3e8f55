import { RestoreTask, RestoreWhich } from "@/lib/contracts/restore"
import { route, TaskParams } from "@/server/http/route"

export const GET = route({ params: TaskParams, query: RestoreWhich }, ({ services, person, params, query }) =>
  services.sessions.previewRestore(person, params.taskId, query.session_id),
)
export const POST = route({ params: TaskParams, body: RestoreTask }, ({ services, person, params, body }) =>
  services.sessions.restore(person, params.taskId, body),
)

import { RestoreTask } from "@/lib/contracts/restore"
import { route, TaskParams } from "@/server/http/route"

export const GET = route({ params: TaskParams }, ({ services, person, params }) => services.sessions.previewRestore(person, params.taskId))
export const POST = route({ params: TaskParams, body: RestoreTask }, ({ services, person, params, body }) =>
  services.sessions.restore(person, params.taskId, body),
)

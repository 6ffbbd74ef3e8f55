import { PatchTask } from "@/lib/contracts/task"
import { route, TaskParams } from "@/server/http/route"

export const GET = route({ params: TaskParams }, ({ services, person, params }) => services.sessions.getTask(person, params.taskId))
export const PATCH = route({ params: TaskParams, body: PatchTask }, ({ services, person, params, body }) =>
  services.sessions.patchTask(person, params.taskId, body),
)
export const DELETE = route({ params: TaskParams, status: 204 }, ({ services, person, params }) =>
  services.sessions.deleteTask(person, params.taskId),
)

import { route } from "@/server/http/route"

export const GET = route("GET /api/v1/tasks/{taskId}", ({ services, person, params }) => services.sessions.getTask(person, params.taskId))
export const PATCH = route("PATCH /api/v1/tasks/{taskId}", ({ services, person, params, body }) =>
  services.sessions.patchTask(person, params.taskId, body),
)
export const DELETE = route("DELETE /api/v1/tasks/{taskId}", ({ services, person, params }) =>
  services.sessions.deleteTask(person, params.taskId),
)

import { route } from "@/server/http/route"

export const GET = route("GET /api/v1/tasks/{taskId}/restore", ({ services, person, params, query }) =>
  services.sessions.previewRestore(person, params.taskId, query.session_id),
)
export const POST = route("POST /api/v1/tasks/{taskId}/restore", ({ services, person, params, body }) =>
  services.sessions.restore(person, params.taskId, body),
)

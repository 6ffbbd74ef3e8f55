import { route } from "@/server/http/route"

export const POST = route("POST /api/v1/tasks/{taskId}/sessions", ({ services, person, params, body }) =>
  services.sessions.createSession(person, params.taskId, body),
)

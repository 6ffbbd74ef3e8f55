import { route } from "@/server/http/route"

export const POST = route("POST /api/v1/tasks/{taskId}/append", ({ services, person, params, body }) =>
  services.sessions.append(person, params.taskId, body),
)

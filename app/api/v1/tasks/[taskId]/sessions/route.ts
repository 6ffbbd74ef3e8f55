import { CreateSession } from "@/lib/contracts/task"
import { route, TaskParams } from "@/server/http/route"

export const POST = route({ params: TaskParams, body: CreateSession, status: 201 }, ({ services, person, params, body }) =>
  services.sessions.createSession(person, params.taskId, body),
)

import { AppendMessage } from "@/lib/contracts/task"
import { route, TaskParams } from "@/server/http/route"

export const POST = route({ params: TaskParams, body: AppendMessage, status: 202 }, ({ services, person, params, body }) =>
  services.sessions.append(person, params.taskId, body),
)

import { route } from "@/server/http/route"

export const GET = route("GET /api/v1/tasks", ({ services, person, query }) => services.sessions.listTasks(person, query))
export const POST = route("POST /api/v1/tasks", ({ services, person, body }) => services.sessions.createTask(person, body))

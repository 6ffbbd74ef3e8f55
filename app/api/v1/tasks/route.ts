import { CreateTask, ListQuery } from "@/lib/contracts/task"
import { route } from "@/server/http/route"

export const GET = route({ query: ListQuery }, ({ services, person, query }) => services.sessions.listTasks(person, query))
export const POST = route({ body: CreateTask, status: 201 }, ({ services, person, body }) => services.sessions.createTask(person, body))

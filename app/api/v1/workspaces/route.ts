import { route } from "@/server/http/route"

export const GET = route("GET /api/v1/workspaces", ({ services, person, query }) => services.sessions.workspaces(person, query.q))

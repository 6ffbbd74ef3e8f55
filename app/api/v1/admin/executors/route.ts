import { route } from "@/server/http/route"

export const GET = route("GET /api/v1/admin/executors", ({ services }) => services.admin.listExecutors())

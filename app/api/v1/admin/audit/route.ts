import { route } from "@/server/http/route"

export const GET = route("GET /api/v1/admin/audit", ({ services, query }) => services.audit.list(query))

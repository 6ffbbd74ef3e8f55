import { route } from "@/server/http/route"

export const GET = route("GET /api/v1/admin/recoveries", ({ services }) => services.admin.listRecoveries())

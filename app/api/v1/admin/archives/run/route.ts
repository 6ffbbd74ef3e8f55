import { route } from "@/server/http/route"

export const POST = route("POST /api/v1/admin/archives/run", ({ services }) => services.admin.archiveExpiredNow())

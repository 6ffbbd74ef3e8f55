import { route } from "@/server/http/route"

export const GET = route("GET /api/v1/admin/archives", ({ services }) => services.admin.listArchives())

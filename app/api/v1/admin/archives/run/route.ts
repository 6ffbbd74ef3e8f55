import { route } from "@/server/http/route"

export const POST = route({ admin: true, status: 202 }, ({ services }) => services.admin.archiveExpiredNow())

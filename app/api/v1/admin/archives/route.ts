import { route } from "@/server/http/route"

export const GET = route({ admin: true }, ({ services }) => services.admin.listArchives())

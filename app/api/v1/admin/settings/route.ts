import { route } from "@/server/http/route"

export const GET = route("GET /api/v1/admin/settings", ({ services }) => services.runtimeAccess.settings())
export const PATCH = route("PATCH /api/v1/admin/settings", async ({ services, body, trail }) => {
  const given = Object.fromEntries(Object.entries(body).filter((pair): pair is [string, boolean] => pair[1] !== undefined))
  const settings = await services.runtimeAccess.change(given, [trail.entry({ details: given })])
  services.accessChanged()
  return settings
})

import { route } from "@/server/http/route"

export const POST = route("POST /api/v1/admin/users/{userId}/sign-out", async ({ services, params, trail }) => {
  const { id, email } = await services.people.require(params.userId)
  await services.signIns.endAll(id, null, [trail.entry({ target: id, details: { email } })])
  services.accessChanged()
})

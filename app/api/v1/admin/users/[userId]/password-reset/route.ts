import { route } from "@/server/http/route"

export const POST = route("POST /api/v1/admin/users/{userId}/password-reset", async ({ services, person, params, trail }) => {
  const { id, email } = await services.people.require(params.userId)
  const { code } = await services.invitations.makeReset(person, id, [trail.entry({ target: id, details: { email } })])
  return { link: `${services.publicUrl()}/reset?code=${code}` }
})

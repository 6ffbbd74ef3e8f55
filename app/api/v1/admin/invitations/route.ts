import { route } from "@/server/http/route"

export const GET = route("GET /api/v1/admin/invitations", async ({ services }) => ({ items: await services.invitations.list() }))
export const POST = route("POST /api/v1/admin/invitations", async ({ services, person, body, trail }) => {
  const { code } = await services.invitations.invite(person, body, (id) => [
    trail.entry({ target: id, details: { email: body.email, role: body.role } }),
  ])
  return { link: `${services.publicUrl()}/invite?code=${code}` }
})
export const DELETE = route("DELETE /api/v1/admin/invitations", ({ services, query, trail }) =>
  services.invitations.revoke(query.id, [trail.entry({ target: query.id })]),
)

import { openRoute } from "@/server/http/route"

export const POST = openRoute("POST /api/v1/invitations/accept", async ({ services, body, trail }) => {
  const invitation = await services.invitations.require(body.code)
  const { email } = await services.invitations.accept(invitation, body, (made) => [
    trail.entry({ user: made, target: invitation.id, details: { role: made.role } }),
  ])
  return { email }
})

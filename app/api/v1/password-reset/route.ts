import { openRoute } from "@/server/http/route"

export const POST = openRoute("POST /api/v1/password-reset", async ({ services, body, trail }) => {
  const { email } = await services.invitations.useReset(body.code, body.password, (person) => [
    trail.entry({ user: person, target: person.id }),
  ])
  services.accessChanged()
  return { email }
})

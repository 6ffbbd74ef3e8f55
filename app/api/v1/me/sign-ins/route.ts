import { route } from "@/server/http/route"

export const GET = route("GET /api/v1/me/sign-ins", async ({ services, caller, person }) => ({
  items: await services.signIns.list(person.id, caller.credential_id),
}))
export const DELETE = route("DELETE /api/v1/me/sign-ins", async ({ services, caller, person, query, trail }) => {
  if (query.id !== undefined) await services.signIns.end(person.id, query.id, [trail.entry({ target: query.id })])
  else await services.signIns.endAll(person.id, caller.credential_id, [trail.entry({ target: person.id, details: { all_others: true } })])
  services.accessChanged()
})

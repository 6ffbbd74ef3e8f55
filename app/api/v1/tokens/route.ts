import { route } from "@/server/http/route"

export const GET = route("GET /api/v1/tokens", async ({ services, person }) => ({ items: await services.tokens.list(person.id) }))
export const POST = route("POST /api/v1/tokens", ({ services, caller, person, body, trail }) =>
  services.tokens.issue(person.id, { ...body, most: services.mostOf(caller) }, ({ id, scopes, expires_at }) => [
    trail.entry({ target: id, details: { name: body.name, scopes: scopes.join(" "), expires_at } }),
  ]),
)
export const DELETE = route("DELETE /api/v1/tokens", async ({ services, person, query, trail }) => {
  await services.tokens.revoke(person.id, query.id, [trail.entry({ target: query.id })])
  services.accessChanged()
})

import { intentCookie } from "@/server/http/oidc-intent"
import { route } from "@/server/http/route"

export const GET = route("GET /api/v1/me/identities", async ({ services, person }) => ({
  items: await services.identities.list(person.id),
}))
export const POST = route("POST /api/v1/me/identities", async ({ services, person, body }) => {
  await services.signInLimit.countConfirmation(person.id)
  await services.people.confirmPassword(person, body.current_password ?? "")
  await services.signInLimit.confirmed(person.id)
  const cookie = await intentCookie({ kind: "connect", user_id: person.id }, services.cookieSettings())
  return new Response(null, { status: 204, headers: { "set-cookie": cookie, "cache-control": "no-store" } })
})
export const DELETE = route("DELETE /api/v1/me/identities", ({ services, person, query, trail }) =>
  services.identities.remove(person.id, query.id, [trail.entry({ target: query.id })]),
)

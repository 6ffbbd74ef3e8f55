import { route } from "@/server/http/route"

export const GET = route("GET /api/v1/me/git-credentials", async ({ services, person }) => ({
  items: await services.gitCredentials.list(person.id),
}))
export const PUT = route("PUT /api/v1/me/git-credentials", async ({ services, person, body, trail }) => {
  await services.gitCredentials.put(person.id, body)
  trail.about(body.host)
})
export const DELETE = route("DELETE /api/v1/me/git-credentials", async ({ services, person, query, trail }) => {
  await services.gitCredentials.remove(person.id, query.host)
  trail.about(query.host)
})

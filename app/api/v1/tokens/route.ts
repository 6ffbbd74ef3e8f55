import { z } from "zod"
import { route } from "@/server/http/route"

const Name = z.object({ name: z.string().trim().min(1).max(100) })

export const GET = route({}, async ({ services, person }) => ({ items: await services.tokens.list(person.id) }))
export const POST = route({ body: Name, status: 201 }, ({ services, person, body }) => services.tokens.issue(person.id, body.name))
export const DELETE = route({ query: z.object({ id: z.string() }), status: 204 }, async ({ services, person, query }) => {
  await services.tokens.revoke(person.id, query.id)
  services.gateway.dropSignIn(query.id)
})

import { z } from "zod"
import { Role } from "@/lib/contracts/task"
import { route } from "@/server/http/route"

const Change = z.object({ id: z.string(), role: Role.optional(), disabled: z.boolean().optional() })

export const GET = route({ admin: true }, async ({ services }) => ({ items: await services.people.list() }))
export const PATCH = route({ admin: true, body: Change, status: 204 }, async ({ services, person, body }) => {
  await services.people.change(person, body.id, body)
  if (body.disabled) services.gateway.dropUser(body.id)
})

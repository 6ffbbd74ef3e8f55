import { z } from "zod"
import { Email, Role } from "@/lib/contracts/task"
import { route } from "@/server/http/route"

const Invitation = z.object({ email: Email, role: Role.default("user") })

export const POST = route({ admin: true, body: Invitation, status: 201 }, async ({ services, person, body }) => {
  const { code } = await services.people.invite(person, body)
  return { link: `${services.publicUrl()}/invite?code=${code}` }
})

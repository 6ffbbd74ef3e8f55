import { z } from "zod"
import { Password } from "@/lib/contracts/task"
import { openRoute } from "@/server/http/route"

const Accept = z.object({ code: z.string(), name: z.string().trim().max(100).default(""), password: Password })

export const POST = openRoute({ body: Accept, status: 201 }, async ({ services, body }) => {
  const { email } = await services.people.acceptInvitation(body.code, { name: body.name, password: body.password })
  return { email }
})

import { z } from "zod"
import { Password } from "@/lib/contracts/task"
import { route } from "@/server/http/route"

const Change = z.object({ current_password: z.string(), new_password: Password })

export const POST = route({ body: Change, status: 204 }, async ({ services, person, body }) => {
  await services.signInLimit.count(person.email)
  await services.people.changePassword(person, body.current_password, body.new_password)
  await services.signInLimit.forgive(person.email)
  services.gateway.dropBrowsers(person.id)
})

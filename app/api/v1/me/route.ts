import { route } from "@/server/http/route"

export const GET = route("GET /api/v1/me", async ({ services, person }) => ({
  ...person,
  has_password: await services.people.hasPassword(person.id),
  runtimes: { standalone: await services.runtimeAccess.of(person) },
}))

import { z } from "zod"
import { route } from "@/server/http/route"

export const GET = route({ query: z.object({ q: z.string().max(200).default("") }) }, async ({ services, person, query }) =>
  services.sessions.workspaces(person, query.q),
)

import { route } from "@/server/http/route"

export const GET = route({}, async ({ services }) => ({ items: await services.agents.list() }))

import { route } from "@/server/http/route"

export const GET = route({}, async ({ services }) => ({ items: services.agents.list() }))

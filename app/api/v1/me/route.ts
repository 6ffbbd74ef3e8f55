import { route } from "@/server/http/route"

export const GET = route({}, async ({ person: { id, email, name, role } }) => ({ id, email, name, role }))

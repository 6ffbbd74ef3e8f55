import { route } from "@/server/http/route"

export const POST = route("POST /api/v1/sessions/import", async ({ services, person, query, stream, trail }) => {
  const imported = await services.transfer.import(person, stream(), query)
  trail.about(imported.session_id)
  return imported
})

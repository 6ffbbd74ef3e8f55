import { route } from "@/server/http/route"

export const POST = route("POST /api/v1/attachments", async ({ services, person, query, stream, header }) => {
  const given = { name: query.name, type: header("content-type"), length: header("content-length"), content: stream() }
  return { attachment: await services.attachments.keep(person, given) }
})

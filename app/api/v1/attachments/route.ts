import { UploadQuery } from "@/lib/contracts/attachments"
import { route } from "@/server/http/route"

export const POST = route({ query: UploadQuery, status: 201 }, async ({ services, person, query, stream, header }) => {
  const given = { name: query.name, type: header("content-type"), length: header("content-length"), content: stream() }
  return { attachment: await services.attachments.keep(person, given) }
})

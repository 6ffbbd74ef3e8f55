import { FileQuery } from "@/lib/contracts/workspace"
import { route, SessionParams, streamOf } from "@/server/http/route"

export const GET = route({ params: SessionParams, query: FileQuery }, async ({ services, person, params, query, header }) => {
  const options = { range: header("range"), download: query.download === "1" }
  const { status, headers, content } = await services.workspace.file(person, params.sessionId, query.path, options)
  return new Response(streamOf(content), { status, headers })
})

export const PUT = route({ params: SessionParams, query: FileQuery }, ({ services, person, params, query, stream, header }) =>
  services.workspace.putFile(person, params.sessionId, query.path, stream(), {
    if_match: header("if-match") ?? undefined,
    if_none_match: header("if-none-match") ?? undefined,
    content_length: header("content-length") ?? undefined,
  }),
)

import { route, streamOf } from "@/server/http/route"

export const GET = route("GET /api/v1/sessions/{sessionId}/file", async ({ services, person, params, query, header }) => {
  const options = { range: header("range"), download: query.download === "1" }
  const { status, headers, content } = await services.workspace.file(person, params.sessionId, query.path, options)
  return new Response(streamOf(content), { status, headers })
})

export const PUT = route("PUT /api/v1/sessions/{sessionId}/file", ({ services, person, params, query, stream, header }) =>
  services.workspace.putFile(person, params.sessionId, query.path, stream(), {
    if_match: header("if-match") ?? undefined,
    if_none_match: header("if-none-match") ?? undefined,
    content_length: header("content-length") ?? undefined,
  }),
)

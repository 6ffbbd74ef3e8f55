import { route } from "@/server/http/route"

export const GET = route("GET /api/v1/sessions/{sessionId}/diff", ({ services, person, params, query: { path, of, old_path } }) =>
  path !== undefined && of !== undefined
    ? services.workspace.fileDiff(person, params.sessionId, { path, of, old_path })
    : services.workspace.changes(person, params.sessionId),
)

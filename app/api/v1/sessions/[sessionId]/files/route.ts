import { route } from "@/server/http/route"

export const GET = route("GET /api/v1/sessions/{sessionId}/files", ({ services, person, params, query }) =>
  services.workspace.folder(person, params.sessionId, query.path),
)

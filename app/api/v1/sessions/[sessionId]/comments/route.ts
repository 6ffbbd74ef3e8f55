import { route } from "@/server/http/route"

export const GET = route("GET /api/v1/sessions/{sessionId}/comments", async ({ services, person, params }) => ({
  items: await services.workspace.comments(person, params.sessionId),
}))
export const POST = route("POST /api/v1/sessions/{sessionId}/comments", ({ services, person, params, body }) =>
  services.workspace.createComment(person, params.sessionId, body),
)

import { route } from "@/server/http/route"

export const PATCH = route("PATCH /api/v1/sessions/{sessionId}/comments/{commentId}", ({ services, person, params, body }) =>
  services.workspace.changeComment(person, params.sessionId, params.commentId, body.content),
)
export const DELETE = route("DELETE /api/v1/sessions/{sessionId}/comments/{commentId}", ({ services, person, params }) =>
  services.workspace.removeComment(person, params.sessionId, params.commentId),
)

import { route } from "@/server/http/route"

export const POST = route("POST /api/v1/sessions/{sessionId}/comments/send", ({ services, person, params, body }) =>
  services.workspace.sendComments(person, params.sessionId, body.client_message_id),
)

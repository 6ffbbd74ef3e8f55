import { SendComments } from "@/lib/contracts/workspace"
import { route, SessionParams } from "@/server/http/route"

export const POST = route({ params: SessionParams, body: SendComments, status: 202 }, ({ services, person, params, body }) =>
  services.workspace.sendComments(person, params.sessionId, body.client_message_id),
)

import { route } from "@/server/http/route"

export const POST = route("POST /api/v1/sessions/{sessionId}/waits/{tokenId}", async ({ services, person, params, body }) => {
  await services.sessions.answerWait(person, params.sessionId, params.tokenId, body)
  return { session_id: params.sessionId, token_id: params.tokenId }
})

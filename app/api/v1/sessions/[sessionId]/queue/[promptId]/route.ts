import { route } from "@/server/http/route"

export const PATCH = route("PATCH /api/v1/sessions/{sessionId}/queue/{promptId}", async ({ services, person, params, body }) => ({
  prompts: await services.sessions.changePrompt(person, params.sessionId, params.promptId, body),
}))
export const DELETE = route("DELETE /api/v1/sessions/{sessionId}/queue/{promptId}", ({ services, person, params }) =>
  services.sessions.withdrawPrompt(person, params.sessionId, params.promptId),
)

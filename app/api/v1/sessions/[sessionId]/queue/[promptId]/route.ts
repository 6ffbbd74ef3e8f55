import { z } from "zod"
import { PatchPrompt } from "@/lib/contracts/task"
import { route } from "@/server/http/route"

const Params = z.object({ sessionId: z.string(), promptId: z.string() })

export const PATCH = route({ params: Params, body: PatchPrompt }, async ({ services, person, params, body }) => ({
  prompts: await services.sessions.changePrompt(person, params.sessionId, params.promptId, body),
}))
export const DELETE = route({ params: Params, status: 204 }, ({ services, person, params }) =>
  services.sessions.withdrawPrompt(person, params.sessionId, params.promptId),
)

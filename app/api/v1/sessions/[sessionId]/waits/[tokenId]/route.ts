import { z } from "zod"
import { Outcome } from "@/lib/contracts/waits"
import { route } from "@/server/http/route"

const Params = z.object({ sessionId: z.string(), tokenId: z.string() })
const Answer = z.object({ secret: z.string(), outcome: Outcome })

export const POST = route({ params: Params, body: Answer, status: 202 }, async ({ services, person, params, body }) => {
  await services.sessions.answerWait(person, params.sessionId, params.tokenId, body)
  return { session_id: params.sessionId, token_id: params.tokenId }
})

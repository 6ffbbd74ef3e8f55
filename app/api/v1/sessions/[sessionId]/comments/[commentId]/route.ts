import { z } from "zod"
import { PatchComment } from "@/lib/contracts/workspace"
import { route } from "@/server/http/route"

const Params = z.object({ sessionId: z.string(), commentId: z.string() })

export const PATCH = route({ params: Params, body: PatchComment }, ({ services, person, params, body }) =>
  services.workspace.changeComment(person, params.sessionId, params.commentId, body.content),
)
export const DELETE = route({ params: Params, status: 204 }, ({ services, person, params }) =>
  services.workspace.removeComment(person, params.sessionId, params.commentId),
)

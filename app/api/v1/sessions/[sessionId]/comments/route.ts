import { CreateComment } from "@/lib/contracts/workspace"
import { route, SessionParams } from "@/server/http/route"

export const GET = route({ params: SessionParams }, async ({ services, person, params }) => ({
  items: await services.workspace.comments(person, params.sessionId),
}))
export const POST = route({ params: SessionParams, body: CreateComment, status: 201 }, ({ services, person, params, body }) =>
  services.workspace.createComment(person, params.sessionId, body),
)

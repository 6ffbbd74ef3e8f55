import { PatchSetup } from "@/lib/contracts/agent-setup"
import { route, SessionParams } from "@/server/http/route"

export const GET = route({ params: SessionParams }, ({ services, person, params }) => services.sessions.setup(person, params.sessionId))
export const PATCH = route({ params: SessionParams, body: PatchSetup, status: 202 }, ({ services, person, params, body }) =>
  services.sessions.chooseOptions(person, params.sessionId, body.options),
)

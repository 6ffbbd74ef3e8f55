import { FolderQuery } from "@/lib/contracts/workspace"
import { route, SessionParams } from "@/server/http/route"

export const GET = route({ params: SessionParams, query: FolderQuery }, ({ services, person, params, query }) =>
  services.workspace.folder(person, params.sessionId, query.path),
)

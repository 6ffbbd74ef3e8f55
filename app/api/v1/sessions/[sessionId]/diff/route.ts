import { DiffQuery } from "@/lib/contracts/workspace"
import { route, SessionParams } from "@/server/http/route"

export const GET = route({ params: SessionParams, query: DiffQuery }, ({ services, person, params, query: { path, of, old_path } }) =>
  path !== undefined && of !== undefined
    ? services.workspace.fileDiff(person, params.sessionId, { path, of, old_path })
    : services.workspace.changes(person, params.sessionId),
)

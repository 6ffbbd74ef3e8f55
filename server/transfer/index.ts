import { AppError } from "../../lib/contracts/errors"
import type { AgentId } from "../../lib/contracts/task"
import { type Caller, type Person, type RuntimeAccess, requireSession } from "../auth"
import type { Session } from "../platform/database"
import { exportFiles, toTar } from "./export-session"
import { type ImportDeps, importSession } from "./import-session"

export { examineSession } from "./doctor"
export { examineAll, examineExport, exportToFolder, readExport } from "./files"
export { importSession } from "./import-session"

type Exporter = Pick<Caller, "person" | "scopes">

/** Sessions as files: out of one server, into another. */
export function createTransfer(
  deps: ImportDeps & {
    access: RuntimeAccess
    repositoryOf: (repository: string) => string | null
    queueMax: number
  },
) {
  /** Whoever keeps the server may rescue anybody's session from it; a token only if it may do what admins do. */
  async function requireExportable({ person, scopes }: Exporter, sessionId: string): Promise<Session> {
    if (person.role !== "admin" || scopes?.includes("admin") === false) return requireSession(deps.db, person, sessionId)
    const session = await deps.db.session.findUnique({ where: { id: sessionId } })
    if (!session) throw new AppError("NOT_FOUND", "There is no such session.", { entity: "session" })
    return session
  }
  return {
    async export(by: Exporter, sessionId: string) {
      const session = await requireExportable(by, sessionId)
      return { name: `${session.id}.tar`, owner_id: session.user_id, content: toTar(await exportFiles(deps.db, session), deps.clock.now()) }
    },
    async import(person: Person, source: AsyncIterable<Uint8Array>, options: { agent?: AgentId | undefined }) {
      await deps.access.require(person, "standalone")
      return importSession(deps, person, source, { ...options, repositoryOf: deps.repositoryOf, queueMax: deps.queueMax })
    },
  }
}
export type Transfer = ReturnType<typeof createTransfer>

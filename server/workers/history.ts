import type { Readable } from "node:stream"
import { PTY_HISTORY_MAX_BYTES } from "../../lib/contracts/agentctl/ptys"
import type { Person } from "../auth"
import { requireWorker, type WorkerDeps } from "./deps"
import { requireProcess } from "./manage"

/** Older output, as raw as it was; it begins at `offset` and ends at `before`, or where the output begins that is kept. */
export async function readHistory(
  deps: WorkerDeps,
  person: Person,
  sessionId: string,
  workerId: string,
  page: { before: number; limit: number },
): Promise<{ offset: number; content: Readable }> {
  const { session, worker } = await requireWorker(deps, person, sessionId, workerId)
  requireProcess(worker.type)
  const place = await deps.reach(session)
  const limit = Math.min(page.limit, PTY_HISTORY_MAX_BYTES)
  const signal = new AbortController().signal
  const { stream, offset } = await place.call(() => place.client.openPtyHistory(session.id, worker.id, page.before, limit, signal))
  return { offset, content: stream }
}

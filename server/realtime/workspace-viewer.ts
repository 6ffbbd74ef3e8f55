import { AppError } from "../../lib/contracts/errors"
import type { Person } from "../auth"
import type { Workspace } from "../workspace"

/** A page looks at one session; more than this is no page. */
const MAX_WATCHED = 20

/** The workspaces one connection looks at. What was asked for while the answer was on its way is undone when it arrives. */
export function createWorkspaceViewer(workspace: Workspace, person: Person, changed: (sessionId: string) => void) {
  const watched = new Map<string, { stop: (() => void) | null }>()

  function unwatch(sessionId: string) {
    watched.get(sessionId)?.stop?.()
    watched.delete(sessionId)
  }
  return {
    async watch(sessionId: string): Promise<void> {
      if (watched.has(sessionId)) return
      if (watched.size >= MAX_WATCHED)
        throw new AppError("RATE_LIMITED", "Too many workspaces are watched on one connection.", { retry_after_seconds: 0 })
      const entry: { stop: (() => void) | null } = { stop: null }
      watched.set(sessionId, entry)
      try {
        const stop = await workspace.watch(person, sessionId, () => changed(sessionId))
        if (watched.get(sessionId) === entry) entry.stop = stop
        else stop()
      } catch (error) {
        if (watched.get(sessionId) === entry) watched.delete(sessionId)
        throw error
      }
    },
    unwatch,
    close() {
      for (const sessionId of [...watched.keys()]) unwatch(sessionId)
    },
  }
}

import type { Runtime } from "../../lib/contracts/task"
import { killPoint } from "../../lib/host/kill-point"
import { isConflict, update } from "../journal"
import type { Session } from "../platform/database"
import type { ExecutionDeps, Live } from "./context"

/** The sessions this server acts for, and how it comes to act for one: a compare-and-set that raises the owner's epoch. */
export function createClaims(deps: ExecutionDeps) {
  const owned = new Map<string, Live>()

  /** Taking a session over starts with reconciling it; before that nothing is delivered, resumed or reaped. */
  async function own(session: Session, { takeFromLiveOwner = false } = {}): Promise<Live | null> {
    const held = owned.get(session.id)
    const owner = session.owner_boot_id
    if (held && owner === deps.boot_id && session.owner_epoch === held.owned.epoch) return held
    const takeOver = owner === null || takeFromLiveOwner ? [] : await deps.takeOverFrom(owner)
    if (takeOver === null || !(await isHere(session))) return null
    const epoch = session.owner_epoch + 1
    try {
      await deps.journal.write([
        ...takeOver,
        update("sessions", { id: session.id, owner_epoch: session.owner_epoch }, { owner_boot_id: deps.boot_id, owner_epoch: epoch }),
      ])
    } catch (error) {
      if (isConflict(error)) return null
      throw error
    }
    killPoint("claim.committed")
    await held?.reader?.stop()
    const ref = { id: session.id, task_id: session.task_id, user_id: session.user_id }
    const live: Live = {
      owned: { ref, boot_id: deps.boot_id, epoch },
      reader: null,
      accounted: session.spool_id === null,
      silent: false,
      cancelled: false,
      stopSigningIn: null,
      restoring: null,
      retry: null,
      whenDecided: null,
      retries: 0,
    }
    owned.set(session.id, live)
    return live
  }

  /** A session of another place is left to the server that is there, also while that one is away: its daemon may be at work. */
  async function isHere({ id, runtime }: Session): Promise<boolean> {
    const executor = await deps.db.executorRunning.findUnique({ where: { session_id: id } })
    return executor !== null && deps.executors[runtime as Runtime].isHere(executor)
  }

  /** Nobody else acts for it, and this server can. Asked before acting on a notice, which every server hears. */
  async function isForUs(session: Session): Promise<boolean> {
    const { owner_boot_id: owner } = session
    if (owner === deps.boot_id) return true
    return (owner === null || !(await deps.isBootAlive(owner))) && (await isHere(session))
  }

  return { owned, own, isForUs }
}

import { guard, type SessionRef } from "../journal"

/** A session this server may act for. Every commit and every changing call to the daemon carries the epoch. */
export type Owned = { ref: SessionRef; boot_id: string; epoch: number }

/** Another server has taken the session over. Whatever this one was about to do must not happen. */
export class Fenced extends Error {
  constructor(sessionId: string) {
    super(`${sessionId} belongs to another server now`)
  }
}

export const stillOwned = (owned: Owned) => guard("sessions", { id: owned.ref.id, owner_boot_id: owned.boot_id, owner_epoch: owned.epoch })

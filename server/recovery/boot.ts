import { hostname } from "node:os"
import { isSameProcess, processStartTime } from "../../lib/host/process-identity"
import { insert, isConflict, type Journal, update, updateAny } from "../journal"
import type { Database } from "../platform/database"
import { ids } from "../platform/ids"
import type { Logger } from "../platform/logger"

/** A server silent for so long has lost its sessions to whoever claims them. */
export const LEASE_MS = 15_000
export const RENEW_MS = 5_000

/** One life of this server: a lease in the database, renewed until it ends. The database's clock decides, not ours. */
export async function startBoot(options: {
  journal: Journal
  db: Database
  logger: Logger
  /** A lock on the data folder keeps every other server away: however long this one slept, nobody can have taken its place. */
  alone: boolean
  onLeaseLost: () => void
}) {
  const { journal, db, logger } = options
  const id = ids.boot()
  const host = hostname()
  await journal.write([
    insert("boots", {
      id,
      hostname: host,
      pid: process.pid,
      identity: processStartTime(process.pid) ?? "",
      started_at: new Date().toISOString(),
      lease_until: { db_now: LEASE_MS },
      ended_at: null,
    }),
  ])
  let renewing = false
  const timer = setInterval(async () => {
    if (renewing) return
    renewing = true
    try {
      // A lease that ran out may have been taken over meanwhile; renewing it would make two owners.
      const stillHeld = options.alone ? {} : { lease_until: { gt: { db_now: 0 } } }
      await journal.write([update("boots", { id, ended_at: null, ...stillHeld }, { lease_until: { db_now: LEASE_MS } })])
    } catch (error) {
      if (isConflict(error)) options.onLeaseLost()
      else logger.warn({ err: error }, "lease could not be renewed")
    } finally {
      renewing = false
    }
  }, RENEW_MS)
  timer.unref()

  return {
    id,
    async isAlive(bootId: string): Promise<boolean> {
      if (bootId === id) return true
      const boot = await db.boot.findUnique({ where: { id: bootId } })
      if (!boot || boot.ended_at !== null) return false
      // On its own host a dead process is known at once. One that is stopped keeps its pid and loses its lease.
      if (boot.hostname === host && boot.identity !== "" && !isSameProcess(boot.pid, boot.identity)) return false
      return boot.lease_until > (await databaseNow(db))
    },
    async end() {
      clearInterval(timer)
      await journal.write([updateAny("boots", { id }, { ended_at: new Date().toISOString() })])
    },
  }
}
export type Boot = Awaited<ReturnType<typeof startBoot>>

async function databaseNow(db: Database): Promise<string> {
  const [row] = await db.$queryRawUnsafe<{ now: Date | string }[]>("SELECT CURRENT_TIMESTAMP AS now")
  if (row?.now instanceof Date) return row.now.toISOString()
  return new Date(`${String(row?.now).replace(" ", "T")}Z`).toISOString()
}

import { hostname } from "node:os"
import { DURATIONS } from "../../lib/host/durations"
import { killPoint } from "../../lib/host/kill-point"
import { isSameProcess, processStartTime } from "../../lib/host/process-identity"
import { insert, isConflict, type Journal, update, updateAny } from "../journal"
import type { Database } from "../platform/database"
import { ids } from "../platform/ids"
import type { Logger } from "../platform/logger"
import { markFolder } from "./restored-backup"

/** One life of this server: a lease in the database, renewed until it ends. The database's clock decides, not ours. */
export async function startBoot(options: {
  journal: Journal
  db: Database
  data_dir: string
  logger: Logger
  /** Does another server act for sessions this one holds? Asked when the lease ran out: a machine that slept, or a long stall. */
  wasTakenOver: () => Promise<boolean>
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
      lease_until: { db_now: DURATIONS.leaseMs },
      renewals: 0,
      ended_at: null,
    }),
  ])
  killPoint("boot.leased")
  let renewals = 0
  await markFolder(options.data_dir, { boot_id: id, renewals })

  async function renew(still: { lease_until?: { gt: { db_now: number } }; ended_at?: null }) {
    await journal.write([
      update("boots", { id, ...still }, { lease_until: { db_now: DURATIONS.leaseMs }, renewals: { inc: 1 }, ended_at: null }),
    ])
    renewals += 1
    await markFolder(options.data_dir, { boot_id: id, renewals })
  }

  async function renewOrEnd() {
    try {
      await renew({ lease_until: { gt: { db_now: 0 } }, ended_at: null })
    } catch (error) {
      if (!isConflict(error)) throw error
      if (await options.wasTakenOver()) return options.onLeaseLost()
      // Nobody came. Whoever comes from now on is told apart by each session's epoch, not by this lease.
      logger.warn("the lease had run out; nobody had taken over, so it was taken again")
      await renew({})
    }
  }

  let renewing = false
  const timer = setInterval(async () => {
    if (renewing) return
    renewing = true
    await renewOrEnd().catch((error) => logger.warn({ err: error }, "lease could not be renewed"))
    renewing = false
  }, DURATIONS.leaseRenewalMs)
  timer.unref()

  async function isAlive(bootId: string): Promise<boolean> {
    if (bootId === id) return true
    const boot = await db.boot.findUnique({ where: { id: bootId } })
    if (!boot || boot.ended_at !== null) return false
    // On its own host a dead process is known at once. One that is stopped keeps its pid and loses its lease.
    if (boot.hostname === host && boot.identity !== "" && !isSameProcess(boot.pid, boot.identity)) return false
    return boot.lease_until > (await databaseNow(db))
  }

  return {
    id,
    isAlive,
    /** A killed server cannot say that it ended. Its end is put at the last sign of life; one that only slept takes it back. */
    async endDead(): Promise<void> {
      const open = await db.boot.findMany({ where: { ended_at: null, NOT: { id } } })
      for (const boot of open) {
        if (await isAlive(boot.id)) continue
        const ended_at = new Date(Date.parse(boot.lease_until) - DURATIONS.leaseMs).toISOString()
        await journal.write([updateAny("boots", { id: boot.id, ended_at: null, lease_until: boot.lease_until }, { ended_at })])
      }
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

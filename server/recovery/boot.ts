import { hostname } from "node:os"
import { DURATIONS } from "../../lib/host/durations"
import { killPoint } from "../../lib/host/kill-point"
import { isSameProcess, processScope, processStartTime } from "../../lib/host/process-identity"
import type { Place } from "../executors"
import { type Change, insert, isConflict, type Journal, update, updateAny } from "../journal"
import type { Boot as BootRow, Database } from "../platform/database"
import { ids } from "../platform/ids"
import type { Logger } from "../platform/logger"
import { createSteadiness } from "./lease"
import { markFolder } from "./restored-backup"

/** `gone`: its process is not there any more. `ended`: its row says so, which one that only slept takes back. */
type Standing = "alive" | "gone" | "ended" | "lapsed"

/** One life of this server: a lease in the database, renewed until it ends. The database's clock decides, not ours. */
export async function startBoot(options: {
  journal: Journal
  db: Database
  data_dir: string
  place: Place
  logger: Logger
  /** The embedded database is locked by the one server that uses it: every other boot in it has ended. */
  alone: boolean
  /** Another server has taken sessions of this one over. */
  onFenced: () => void
  /** The lease is renewed again after a time in which the database could not be reached. */
  onDatabaseBack: () => void
}) {
  const { journal, db, logger } = options
  const id = ids.boot()
  const scope = processScope()
  await journal.write([
    insert("boots", {
      id,
      hostname: hostname(),
      pid: process.pid,
      identity: `${scope} ${processStartTime(process.pid) ?? ""}`,
      started_at: new Date().toISOString(),
      lease_until: { db_now: DURATIONS.leaseMs },
      renewals: 0,
      ended_at: null,
      fenced_by: null,
      place_ids: options.place.ids.join(" "),
    }),
  ])
  killPoint("boot.leased")
  const steadiness = createSteadiness()
  let renewals = 0
  await markFolder(options.data_dir, { boot_id: id, renewals })

  /** A conflict when the row is not in the state that is named, or another server has fenced this one. */
  async function renew(still: { lease_until?: { gt: { db_now: number } }; ended_at?: null }) {
    await journal.write([
      update(
        "boots",
        { id, fenced_by: null, ...still },
        { lease_until: { db_now: DURATIONS.leaseMs }, renewals: { inc: 1 }, ended_at: null },
      ),
    ])
    renewals += 1
    await markFolder(options.data_dir, { boot_id: id, renewals })
  }

  async function renewOrEnd() {
    try {
      await renew({ lease_until: { gt: { db_now: 0 } }, ended_at: null })
    } catch (error) {
      if (!isConflict(error)) throw error
      try {
        await renew({})
      } catch (refusal) {
        if (isConflict(refusal)) return options.onFenced()
        throw refusal
      }
      // Nobody came. Whoever comes from now on has to find this lease lapsed in the very commit of the claim.
      logger.warn("the lease had run out; nobody had taken over, so it was taken again")
    }
    if (steadiness.renewed() === "after_gap") options.onDatabaseBack()
  }

  let timer: NodeJS.Timeout | null = null
  /** A failed try is soon repeated: others wait only one lease for this one's. */
  function renewIn(ms: number) {
    timer = setTimeout(() => {
      renewOrEnd()
        .then(() => DURATIONS.leaseRenewalMs)
        .catch((error) => {
          logger.warn({ err: error }, "lease could not be renewed")
          return DURATIONS.leaseRenewalMs / 5
        })
        .then((next) => {
          if (timer !== null) renewIn(next)
        })
    }, ms)
    timer.unref()
  }
  renewIn(DURATIONS.leaseRenewalMs)

  async function standingOf(boot: BootRow): Promise<Standing> {
    if (options.alone) return "gone"
    const [theirScope, startTime = ""] = boot.identity.split(" ")
    // Where its pid can be seen from here, a dead process is known at once. One that is stopped keeps its pid and loses its lease.
    if (theirScope === scope && startTime !== "" && !isSameProcess(boot.pid, startTime)) return "gone"
    if (boot.ended_at !== null) return "ended"
    if (boot.lease_until > (await databaseNow(db))) return "alive"
    // After an outage every lease has lapsed. Whoever is still there renews within one lease of ours.
    return steadiness.mayJudgeOthers() ? "lapsed" : "alive"
  }

  async function isAlive(bootId: string): Promise<boolean> {
    if (bootId === id) return true
    const boot = await db.boot.findUnique({ where: { id: bootId } })
    return boot !== null && (await standingOf(boot)) === "alive"
  }

  /** A session that sleeps is claimed only when somebody wants it, so its owner may be gone while its server is there. */
  async function isPlaceServed(placeId: string): Promise<boolean> {
    for (const boot of await bootsAt(db, placeId)) if ((await standingOf(boot)) === "alive") return true
    return false
  }

  return {
    id,
    isAlive,
    isPlaceServed,
    /**
     * What a claim of a session of this boot has to commit with it; null while its server may be alive. A server that renews in
     * the same moment keeps its sessions, or learns with its next renewal that it is fenced; never both.
     */
    async takeOverFrom(bootId: string): Promise<Change[] | null> {
      const boot = await db.boot.findUnique({ where: { id: bootId } })
      if (!boot || bootId === id) return []
      switch (await standingOf(boot)) {
        case "alive":
          return null
        case "gone":
          return []
        case "ended":
          return [update("boots", { id: bootId, ended_at: { not: null } }, { fenced_by: id })]
        case "lapsed":
          return [update("boots", { id: bootId, lease_until: { lte: { db_now: 0 } } }, { fenced_by: id })]
      }
    },
    /** A killed server cannot say that it ended. Its end is put at the last sign of life; one that only slept takes it back. */
    async endDead(): Promise<void> {
      const open = await db.boot.findMany({ where: { ended_at: null, NOT: { id } } })
      for (const boot of open) {
        if ((await standingOf(boot)) === "alive") continue
        const ended_at = new Date(Date.parse(boot.lease_until) - DURATIONS.leaseMs).toISOString()
        await journal.write([updateAny("boots", { id: boot.id, ended_at: null, lease_until: boot.lease_until }, { ended_at })])
      }
    },
    async end() {
      if (timer) clearTimeout(timer)
      timer = null
      await journal.write([updateAny("boots", { id }, { ended_at: new Date().toISOString() })])
    },
  }
}
export type Boot = Awaited<ReturnType<typeof startBoot>>

const bootsAt = (db: Database, placeId: string) => db.boot.findMany({ where: { place_ids: { contains: placeId }, ended_at: null } })

/** By its lease alone, for whoever is no server: one that was killed counts as up until that has run out. */
export async function isServerUpAt(db: Database, placeId: string): Promise<boolean> {
  const now = await databaseNow(db)
  return (await bootsAt(db, placeId)).some(({ lease_until }) => lease_until > now)
}

async function databaseNow(db: Database): Promise<string> {
  const [row] = await db.$queryRawUnsafe<{ now: Date | string }[]>("SELECT CURRENT_TIMESTAMP AS now")
  if (row?.now instanceof Date) return row.now.toISOString()
  return new Date(`${String(row?.now).replace(" ", "T")}Z`).toISOString()
}

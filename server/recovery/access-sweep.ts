import { DURATIONS } from "../../lib/host/durations"
import type { Audit } from "../audit"
import type { RuntimeAccess } from "../auth"
import type { Stopped } from "../execution"
import type { Database } from "../platform/database"
import type { Logger } from "../platform/logger"
import type { Boot } from "./boot"

export type AccessSweepDeps = {
  db: Database
  access: RuntimeAccess
  boot: Boot
  audit: Audit
  logger: Logger
  stopWork: (sessionId: string) => Promise<Stopped>
}

/**
 * Ends what users have running who may not run it any more: disabled, no admin any more, or no longer allowed by the setting. Asked
 * for after each such change, and from time to time, so that a server that dies in between leaves nothing running.
 */
export function createAccessSweep(deps: AccessSweepDeps) {
  /** Sessions that were stopped, and how far their log was then: one that went on since has to be looked at again. */
  const stopped = new Map<string, number>()
  let turn: Promise<void> = Promise.resolve()
  let timer: NodeJS.Timeout | null = null

  async function sweep(): Promise<void> {
    for (const { id, owner_boot_id, last_seq } of await findForbidden(deps)) {
      if (stopped.get(id) === last_seq) continue
      // Its owner hears of the change as well, and is the one that can end it.
      if (owner_boot_id !== null && owner_boot_id !== deps.boot.id && (await deps.boot.isAlive(owner_boot_id))) continue
      try {
        const result = await deps.stopWork(id)
        if (result === "not_yet") continue
        if (result === "stopped") {
          const trail = deps.audit.trail("user.work_stopped", { caller: null, address: null, via: "server" })
          await deps.audit.write([trail.entry({ target: id })])
        }
        const now = await deps.db.session.findUnique({ where: { id }, select: { last_seq: true } })
        stopped.set(id, now?.last_seq ?? last_seq)
      } catch (error) {
        deps.logger.warn({ session: id, err: error }, "what its user may not run any more could not be ended yet")
      }
    }
  }
  const run = () => {
    turn = turn.then(sweep).catch((error) => deps.logger.warn({ err: error }, "access sweep failed"))
    return turn
  }
  return {
    start() {
      void run()
      timer = setInterval(() => void run(), DURATIONS.socketCheckMs)
      timer.unref()
    },
    /** Somebody's rights changed: whoever was stopped before may have worked since. */
    changed() {
      stopped.clear()
      return run()
    },
    async stop() {
      if (timer) clearInterval(timer)
      await turn
    },
  }
}

type Forbidden = { id: string; owner_boot_id: string | null; last_seq: number }

/** A join, because neither the users nor the sessions may become a list of parameters. */
async function findForbidden({ db, access }: AccessSweepDeps): Promise<Forbidden[]> {
  const { standalone_for_users } = await access.settings()
  const barred = standalone_for_users ? `u."disabled_at" IS NOT NULL` : `(u."disabled_at" IS NOT NULL OR u."role" <> 'admin')`
  const rows = await db.$queryRawUnsafe<Forbidden[]>(
    `SELECT s."id", s."owner_boot_id", s."last_seq" FROM "executors_running" e
      JOIN "sessions" s ON s."id" = e."session_id" JOIN "users" u ON u."id" = s."user_id"
      WHERE e."runtime" = 'standalone' AND ${barred} AND (e."status" IN ('starting', 'ready', 'error')
        OR EXISTS (SELECT 1 FROM "prompts" p WHERE p."session_id" = s."id" AND p."state" = 'queued'))`,
  )
  return rows.map((row) => ({ ...row, last_seq: Number(row.last_seq) }))
}

import { randomUUID } from "node:crypto"
import { setTimeout as delay } from "node:timers/promises"
import pg from "pg"
import { DURATIONS } from "../../lib/host/durations"
import { CONNECTION_LIMITS } from "./postgres-limits"

/**
 * What one server tells the others: a session's log grew, its owner is asked to act, users' rights, sign-ins or tokens changed, or a
 * task was deleted whose sessions are elsewhere.
 * Carries no content; the database does.
 */
export type Notice =
  | { session_id: string; head?: number; ask?: { wake: boolean; fresh: boolean; sign_in: string | null } }
  | { access_changed: true }
  | { task_deleted: number }
export type Notices = {
  /** Says who is speaking, so that a server does not hear itself. */
  origin: string
  tell(notice: Notice): Promise<void>
  listen(listener: (notice: Notice) => void): void
  /** After a time in which nothing could be heard: whatever was told meanwhile has to be looked up. */
  whenHeardAgain(listener: () => void): void
  close(): Promise<void>
}

export const CHANNEL = "rewake"
export const toPayload = (origin: string, notice: Notice) => JSON.stringify({ origin, ...notice })

const RECONNECT_MS = 1_000

/** SQLite has one server, and nobody to tell. */
export const noNotices: Notices = { origin: "", tell: async () => {}, listen: () => {}, whenHeardAgain: () => {}, close: async () => {} }

/** PostgreSQL's LISTEN and NOTIFY. What is told while the line is down is lost, which is why whoever hears again is told so. */
export function openPostgresNotices(url: string, onError: (error: unknown) => void): Notices {
  const origin = randomUUID()
  const listeners = new Set<(notice: Notice) => void>()
  const afterDeafness = new Set<() => void>()
  let closed = false
  let client: pg.Client | null = null
  let lostOnce = false

  /** Ends, with the reason as its error, when nothing can be heard any more. */
  async function hearUntilLost(): Promise<never> {
    const fresh = new pg.Client({ connectionString: url, application_name: "rewake-notices", ...CONNECTION_LIMITS })
    fresh.on("notification", ({ payload }) => {
      const { origin: from, ...notice } = JSON.parse(payload ?? "{}") as Notice & { origin: string }
      if (from !== origin) for (const listener of listeners) listener(notice)
    })
    const lost = new Promise<never>((_, reject) => fresh.on("error", reject))
    lost.catch(() => {})
    try {
      await fresh.connect()
      await fresh.query(`LISTEN ${CHANNEL}`)
      client = fresh
      if (lostOnce) for (const listener of afterDeafness) listener()
      for (;;) {
        await Promise.race([lost, delay(DURATIONS.leaseRenewalMs, undefined, { ref: false })])
        // A connection that was cut without a word hears nothing more, and would be listened to until the kernel gives it up.
        await fresh.query("SELECT 1")
      }
    } finally {
      client = null
      fresh.end().catch(() => {})
    }
  }
  async function keepHearing() {
    while (!closed) {
      await hearUntilLost().catch((error) => {
        if (!closed) onError(error)
      })
      lostOnce = true
      await delay(RECONNECT_MS, undefined, { ref: false })
    }
  }
  void keepHearing()

  return {
    origin,
    async tell(notice) {
      await client?.query("SELECT pg_notify($1, $2)", [CHANNEL, toPayload(origin, notice)])
    },
    listen: (listener) => void listeners.add(listener),
    whenHeardAgain: (listener) => void afterDeafness.add(listener),
    async close() {
      closed = true
      await client?.end()
    },
  }
}

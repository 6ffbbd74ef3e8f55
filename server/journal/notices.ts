import { randomUUID } from "node:crypto"
import pg from "pg"

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

  async function connect() {
    const fresh = new pg.Client({ connectionString: url, application_name: "rewake-notices" })
    fresh.on("notification", ({ payload }) => {
      const { origin: from, ...notice } = JSON.parse(payload ?? "{}") as Notice & { origin: string }
      if (from !== origin) for (const listener of listeners) listener(notice)
    })
    fresh.on("error", () => reconnectLater())
    await fresh.connect()
    await fresh.query(`LISTEN ${CHANNEL}`)
    client = fresh
    if (lostOnce) for (const listener of afterDeafness) listener()
  }
  function reconnectLater() {
    client = null
    lostOnce = true
    if (closed) return
    setTimeout(() => connect().catch(reconnectLater), RECONNECT_MS).unref()
  }
  connect().catch((error) => {
    onError(error)
    reconnectLater()
  })

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

import { AppError } from "../../lib/contracts/errors"
import { insert, isConflict, type Journal, update, updateAny } from "../journal"
import type { Clock } from "../platform/clock"
import type { Database } from "../platform/database"
import { ids } from "../platform/ids"
import { newSecret, sha256 } from "./secrets"

/** A write per request would make every read wait for a disk. */
const LAST_USED_GRANULARITY_MS = 60_000

export function createApiTokens({ db, journal, clock }: { db: Database; journal: Journal; clock: Clock }) {
  return {
    async issue(userId: string, name: string) {
      const token = newSecret("rwk")
      const id = ids.apiToken()
      const created_at = clock.now().toISOString()
      await journal.write([
        insert("api_tokens", { id, user_id: userId, name, token_sha256: sha256(token), created_at, last_used_at: null, revoked_at: null }),
      ])
      return { id, name, token, created_at }
    },
    async list(userId: string) {
      const tokens = await db.apiToken.findMany({ where: { user_id: userId, revoked_at: null }, orderBy: { created_at: "desc" } })
      return tokens.map(({ id, name, created_at, last_used_at }) => ({ id, name, created_at, last_used_at }))
    },
    async revoke(userId: string, id: string) {
      try {
        await journal.write([update("api_tokens", { id, user_id: userId, revoked_at: null }, { revoked_at: clock.now().toISOString() })])
      } catch (error) {
        if (isConflict(error)) throw new AppError("NOT_FOUND", "There is no such token.", { entity: "token" })
        throw error
      }
    },
    /** Whose token this is; null for one that is unknown or revoked. */
    async ownerOf(token: string): Promise<{ id: string; user_id: string } | null> {
      const row = await db.apiToken.findUnique({ where: { token_sha256: sha256(token) } })
      if (!row || row.revoked_at) return null
      const now = clock.now()
      if (!row.last_used_at || now.getTime() - Date.parse(row.last_used_at) > LAST_USED_GRANULARITY_MS) {
        await journal.write([updateAny("api_tokens", { id: row.id }, { last_used_at: now.toISOString() })])
      }
      return { id: row.id, user_id: row.user_id }
    },
  }
}
export type ApiTokens = ReturnType<typeof createApiTokens>

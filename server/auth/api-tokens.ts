import { AppError } from "../../lib/contracts/errors"
import type { ApiToken, CreateToken, Scope } from "../../lib/contracts/people"
import type { Role } from "../../lib/contracts/task"
import { type Change, guard, insert, isConflict, type Journal, update, updateAny } from "../journal"
import type { Clock } from "../platform/clock"
import type { Database, ApiToken as Row } from "../platform/database"
import { ids } from "../platform/ids"
import { inPortions } from "../platform/in-portions"
import type { Caller } from "./current-user"
import { newSecret, sha256 } from "./secrets"

/** A write per request would make every read wait for a disk. */
const LAST_USED_GRANULARITY_MS = 60_000
const DAY_MS = 86_400_000

/** What a role may do at all. */
export const scopesOfRole = (role: Role): Scope[] => (role === "admin" ? ["read", "write", "admin"] : ["read", "write"])

type TokenOwner = { id: string; user_id: string; scopes: Scope[]; expires_at: string }
/** `most`: what whoever asks may do themselves, and until when; a token never gives more than what made it. */
export type TokenGrant = CreateToken & { most: { scopes: readonly Scope[]; expires_at: string | null } }

/** A browser may give what its user may; a token no more than it has, and no longer. Pure. */
export function mostGrantable({ person, via, scopes, expires_at }: Caller): TokenGrant["most"] {
  const own = scopesOfRole(person.role)
  return via === "token" ? { scopes: own.filter((scope) => scopes?.includes(scope)), expires_at } : { scopes: own, expires_at: null }
}

export function createApiTokens({ db, journal, clock }: { db: Database; journal: Journal; clock: Clock }) {
  return {
    async issue(userId: string, grant: TokenGrant, alongside: (token: ApiToken) => Change[] = () => []) {
      const scopes = grant.scopes ?? grant.most.scopes
      const beyond = scopes.filter((scope) => !grant.most.scopes.includes(scope))
      if (beyond.length > 0) throw new AppError("FORBIDDEN", `You cannot give the scope "${beyond[0]}", because you do not have it.`, {})
      const token = newSecret("rwk")
      const now = clock.now()
      const wanted = new Date(now.getTime() + grant.days * DAY_MS).toISOString()
      const expires_at = grant.most.expires_at !== null && grant.most.expires_at < wanted ? grant.most.expires_at : wanted
      const row = {
        ...{ id: ids.apiToken(), user_id: userId, name: grant.name, token_sha256: sha256(token), scopes: [...new Set(scopes)].join(" ") },
        ...{ created_at: now.toISOString(), expires_at, last_used_at: null, revoked_at: null },
      }
      // Disabled in this very moment, the user would be left with a token that nobody revokes.
      await journal.write([guard("users", { id: userId, disabled_at: null }), insert("api_tokens", row), ...alongside(toView(row))])
      return { ...toView(row), token }
    },
    async list(userId: string): Promise<ApiToken[]> {
      const tokens = await db.apiToken.findMany({ where: { user_id: userId, revoked_at: null }, orderBy: { created_at: "desc" } })
      return tokens.map(toView)
    },
    async revoke(userId: string, id: string, alongside: Change[]) {
      try {
        const revoked_at = clock.now().toISOString()
        await journal.write([update("api_tokens", { id, user_id: userId, revoked_at: null }, { revoked_at }), ...alongside])
      } catch (error) {
        if (isConflict(error)) throw new AppError("NOT_FOUND", "There is no such token.", { entity: "token" })
        throw error
      }
    },
    /** Whose token this is; null for one that is unknown, revoked or expired. */
    async ownerOf(token: string): Promise<TokenOwner | null> {
      const row = await db.apiToken.findUnique({ where: { token_sha256: sha256(token) } })
      if (!row || !isLive(row, clock.now())) return null
      const now = clock.now()
      if (!row.last_used_at || now.getTime() - Date.parse(row.last_used_at) > LAST_USED_GRANULARITY_MS) {
        await journal.write([updateAny("api_tokens", { id: row.id }, { last_used_at: now.toISOString() })])
      }
      return { id: row.id, user_id: row.user_id, scopes: scopesIn(row), expires_at: row.expires_at }
    },
    /** Those of these that can still be used. */
    async live(tokenIds: readonly string[]): Promise<Set<string>> {
      const rows = await inPortions(tokenIds, (portion) => db.apiToken.findMany({ where: { id: { in: portion } } }))
      return new Set(rows.filter((row) => isLive(row, clock.now())).map(({ id }) => id))
    },
  }
}
export type ApiTokens = ReturnType<typeof createApiTokens>

const isLive = (row: Row, now: Date) => row.revoked_at === null && row.expires_at > now.toISOString()
const scopesIn = ({ scopes }: Pick<Row, "scopes">) => scopes.split(" ") as Scope[]
const toView = (row: Row): ApiToken => ({
  ...{ id: row.id, name: row.name, scopes: scopesIn(row) },
  ...{ created_at: row.created_at, expires_at: row.expires_at, last_used_at: row.last_used_at },
})

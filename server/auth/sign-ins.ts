import { AppError } from "../../lib/contracts/errors"
import type { SignInMethod, SignInView } from "../../lib/contracts/people"
import { type Change, guard, insert, isConflict, type Journal, update, updateAny } from "../journal"
import type { Clock } from "../platform/clock"
import type { Database, SignIn } from "../platform/database"
import { ids } from "../platform/ids"
import { inPortions } from "../platform/in-portions"
import type { Person } from "./people"

/** After so long a browser has to sign in again, however often it was used. */
export const SIGN_IN_DAYS = 30
/** A browser that was not used for so long has to sign in again as well. */
const IDLE_DAYS = 14
/** A device that signed somebody in longer ago than this is a stranger again. */
export const DEVICE_DAYS = 365
const DAY_MS = 86_400_000
const LAST_SEEN_GRANULARITY_MS = 60_000
const USER_AGENT_LENGTH = 300

export type NewSignIn = { method: SignInMethod; address: string; user_agent: string; device_sha256: string | null }

const daysBefore = (now: Date, days: number) => new Date(now.getTime() - days * DAY_MS).toISOString()

/** Which sign-ins can still be used. */
export const liveSignIns = (now: Date) => ({
  ended_at: null,
  expires_at: { gt: now.toISOString() },
  last_seen_at: { gt: daysBefore(now, IDLE_DAYS) },
})

/** Browsers that are signed in: one row each, looked at with every request, so that ending one ends it at once. */
export function createSignIns({ db, journal, clock }: { db: Database; journal: Journal; clock: Clock }) {
  const now = () => clock.now().toISOString()

  return {
    /**
     * Null: the account changed since it was looked at. `unchanged` are the user's columns the decision was made on: a password
     * that is changed in this very moment must not leave a sign-in with the old one behind.
     */
    async begin(
      person: Person,
      unchanged: { password_hash?: string },
      given: NewSignIn,
      alongside: (id: string) => Change[],
    ): Promise<string | null> {
      const id = ids.signIn()
      const at = clock.now()
      try {
        await journal.write([
          guard("users", { id: person.id, disabled_at: null, ...unchanged }),
          insert("sign_ins", {
            id,
            user_id: person.id,
            method: given.method,
            address: given.address,
            user_agent: given.user_agent.slice(0, USER_AGENT_LENGTH),
            device_sha256: given.device_sha256,
            created_at: at.toISOString(),
            last_seen_at: at.toISOString(),
            expires_at: new Date(at.getTime() + SIGN_IN_DAYS * DAY_MS).toISOString(),
            ended_at: null,
          }),
          ...alongside(id),
        ])
      } catch (error) {
        if (isConflict(error)) return null
        throw error
      }
      return id
    },
    /** Whose sign-in this is; null when it has ended, or never was. */
    async ownerOf(id: string): Promise<{ user_id: string; expires_at: string } | null> {
      const at = clock.now()
      const row = await db.signIn.findUnique({ where: { id, ...liveSignIns(at) } })
      if (!row) return null
      if (at.getTime() - Date.parse(row.last_seen_at) > LAST_SEEN_GRANULARITY_MS)
        await journal.write([updateAny("sign_ins", { id }, { last_seen_at: at.toISOString() })])
      return { user_id: row.user_id, expires_at: row.expires_at }
    },
    /** Those of these that can still be used. */
    async live(signInIds: readonly string[]): Promise<Set<string>> {
      const rows = await inPortions(signInIds, (portion) =>
        db.signIn.findMany({ where: { id: { in: portion }, ...liveSignIns(clock.now()) }, select: { id: true } }),
      )
      return new Set(rows.map(({ id }) => id))
    },
    async knowsDevice(userId: string, device_sha256: string): Promise<boolean> {
      const created_at = { gt: daysBefore(clock.now(), DEVICE_DAYS) }
      return (await db.signIn.count({ where: { device_sha256, user_id: userId, created_at } })) > 0
    },
    async list(userId: string, current: string | null): Promise<SignInView[]> {
      const rows = await db.signIn.findMany({ where: { user_id: userId, ...liveSignIns(clock.now()) }, orderBy: { last_seen_at: "desc" } })
      return rows.map((row) => toView(row, current))
    },
    async end(userId: string, id: string, alongside: Change[]): Promise<void> {
      try {
        await journal.write([update("sign_ins", { id, user_id: userId, ended_at: null }, { ended_at: now() }), ...alongside])
      } catch (error) {
        if (isConflict(error)) throw new AppError("NOT_FOUND", "This browser is not signed in.", { entity: "sign_in" })
        throw error
      }
    },
    /** Every other browser of this user; `except` null: every one. */
    async endAll(userId: string, except: string | null, alongside: Change[]): Promise<void> {
      await journal.write([...endSignIns(userId, except, now()), ...alongside])
    },
  }
}
export type SignIns = ReturnType<typeof createSignIns>

const toView = ({ id, method, created_at, last_seen_at, expires_at, address, user_agent }: SignIn, current: string | null): SignInView => ({
  id,
  method: method as SignInMethod,
  created_at,
  last_seen_at,
  expires_at,
  address,
  user_agent,
  current: id === current,
})

export const endSignIns = (userId: string, except: string | null, at: string): Change[] => [
  updateAny("sign_ins", { user_id: userId, ended_at: null, ...(except === null ? {} : { id: { not: except } }) }, { ended_at: at }),
]

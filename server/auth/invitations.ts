import { AppError } from "../../lib/contracts/errors"
import type { InvitationView } from "../../lib/contracts/people"
import type { Role } from "../../lib/contracts/task"
import { type Change, insert, isConflict, StoreRefused, update, updateAny } from "../journal"
import type { Invitation } from "../platform/database"
import { ids } from "../platform/ids"
import { noLongerAdmin, type PeopleDeps, type Person, stillAdmin, toPerson, userRow } from "./people"
import { newSecret, sha256 } from "./secrets"
import { endSignIns } from "./sign-ins"

const INVITATION_DAYS = 7
const RESET_HOURS = 24
const HOUR_MS = 3_600_000

/** Links with a secret that let somebody in once: invitations to join, and resets of a forgotten password. */
export function createInvitations(deps: PeopleDeps) {
  const { db, journal, clock, passwords } = deps
  const now = () => clock.now().toISOString()
  const inHours = (hours: number) => new Date(clock.now().getTime() + hours * HOUR_MS).toISOString()
  const noInvitation = () =>
    new AppError("NOT_FOUND", "This invitation does not exist, was used or revoked, or has expired.", { entity: "invitation" })
  const noReset = () => new AppError("NOT_FOUND", "This link does not exist, was used, or has expired.", { entity: "password_reset" })
  const isOpen = (invitation: Invitation | null): invitation is Invitation =>
    invitation !== null && invitation.accepted_at === null && invitation.revoked_at === null && invitation.expires_at > now()

  /** Null: there is none that can be accepted. */
  async function byCode(code: string): Promise<Invitation | null> {
    const invitation = await db.invitation.findUnique({ where: { code_sha256: sha256(code) } })
    return isOpen(invitation) ? invitation : null
  }

  return {
    byCode,
    async require(code: string): Promise<Invitation> {
      const invitation = await byCode(code)
      if (!invitation) throw noInvitation()
      return invitation
    },
    /** The newest that can still be accepted by this address. */
    async forAddress(email: string): Promise<Invitation | null> {
      const found = await db.invitation.findMany({ where: { email, accepted_at: null, revoked_at: null }, orderBy: { created_at: "desc" } })
      return found.find(isOpen) ?? null
    },
    /** `by` null: the command line, which has the server's own rights. */
    async invite(by: Person | null, { email, role }: { email: string; role: Role }, alongside: (id: string) => Change[]) {
      if (await db.user.findUnique({ where: { email } })) throw new AppError("CONFLICT", "There is a user with that address already.", {})
      const code = newSecret("inv")
      const id = ids.invitation()
      try {
        await journal.write([
          ...(by ? [stillAdmin(by)] : []),
          insert("invitations", {
            ...{ id, email, role, code_sha256: sha256(code), created_by: by?.id ?? null, created_at: now() },
            ...{ expires_at: inHours(INVITATION_DAYS * 24), accepted_at: null, revoked_at: null },
          }),
          ...alongside(id),
        ])
      } catch (error) {
        throw isConflict(error) ? noLongerAdmin() : error
      }
      return { code }
    },
    async list(): Promise<InvitationView[]> {
      const found = await db.invitation.findMany({ where: { accepted_at: null, revoked_at: null }, orderBy: { created_at: "desc" } })
      const makers = await db.user.findMany({ select: { id: true, email: true } })
      return found.filter(isOpen).map((row) => ({
        ...{ id: row.id, email: row.email, role: row.role as Role, created_at: row.created_at, expires_at: row.expires_at },
        created_by: makers.find(({ id }) => id === row.created_by)?.email ?? null,
      }))
    },
    async revoke(id: string, alongside: Change[]): Promise<void> {
      try {
        await journal.write([update("invitations", { id, accepted_at: null, revoked_at: null }, { revoked_at: now() }), ...alongside])
      } catch (error) {
        throw isConflict(error) ? noInvitation() : error
      }
    },
    /** Makes the account. `alongside` may add to it, in the same commit, how it signs in. */
    async accept(
      invitation: Invitation,
      user: { name: string; password: string | null },
      alongside: (person: Person) => Change[],
    ): Promise<Person> {
      const row = await userRow(deps, { email: invitation.email, role: invitation.role as Role, ...user })
      try {
        await journal.write([
          update("invitations", { id: invitation.id, accepted_at: null, revoked_at: null }, { accepted_at: now() }),
          insert("users", row),
          ...alongside(toPerson(row)),
        ])
      } catch (error) {
        if (isConflict(error) || error instanceof StoreRefused) throw noInvitation()
        throw error
      }
      return toPerson(row)
    },

    async makeReset(by: Person, userId: string, alongside: Change[]): Promise<{ code: string }> {
      const code = newSecret("rst")
      const at = now()
      try {
        await journal.write([
          stillAdmin(by),
          // The newest link is the one that counts.
          updateAny("password_resets", { user_id: userId, ended_at: null }, { ended_at: at }),
          insert("password_resets", {
            ...{ id: ids.passwordReset(), user_id: userId, code_sha256: sha256(code), created_by: by.id },
            ...{ created_at: at, expires_at: inHours(RESET_HOURS), ended_at: null },
          }),
          ...alongside,
        ])
      } catch (error) {
        throw isConflict(error) ? noLongerAdmin() : error
      }
      return { code }
    },
    /** Sets the password and ends every sign-in and token: whoever forgot it may have lost more than that. */
    async useReset(code: string, password: string, alongside: (person: Person) => Change[]): Promise<Person> {
      const reset = await db.passwordReset.findUnique({ where: { code_sha256: sha256(code) } })
      if (!reset || reset.ended_at !== null || reset.expires_at <= now()) throw noReset()
      const user = await db.user.findUnique({ where: { id: reset.user_id } })
      if (!user || user.disabled_at !== null) throw noReset()
      const password_hash = await passwords.hash(password)
      const at = now()
      try {
        await journal.write([
          update("password_resets", { id: reset.id, ended_at: null }, { ended_at: at }),
          update("users", { id: user.id, disabled_at: null }, { password_hash }),
          ...endSignIns(user.id, null, at),
          updateAny("api_tokens", { user_id: user.id, revoked_at: null }, { revoked_at: at }),
          ...alongside(toPerson(user)),
        ])
      } catch (error) {
        throw isConflict(error) ? noReset() : error
      }
      return toPerson(user)
    },
  }
}
export type Invitations = ReturnType<typeof createInvitations>

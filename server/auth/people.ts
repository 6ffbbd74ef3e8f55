import { AppError } from "../../lib/contracts/errors"
import type { Role } from "../../lib/contracts/task"
import { insert, isConflict, type Journal, StoreRefused, update } from "../journal"
import type { Clock } from "../platform/clock"
import type { Database, User } from "../platform/database"
import { ids } from "../platform/ids"
import { decoyHash, hashPassword, passwordMatches } from "./passwords"
import { newSecret, sha256 } from "./secrets"

export const INVITATION_DAYS = 7

export type Person = { id: string; email: string; name: string; role: Role; auth_epoch: number }
export const toPerson = (user: User): Person => ({
  id: user.id,
  email: user.email,
  name: user.name,
  role: user.role as Role,
  auth_epoch: user.auth_epoch,
})

export function createPeople({ db, journal, clock }: { db: Database; journal: Journal; clock: Clock }) {
  const now = () => clock.now().toISOString()
  const userRow = async (person: { email: string; name: string; password: string; role: Role }) => {
    const row = {
      id: ids.user(),
      email: person.email,
      name: person.name,
      role: person.role,
      password_hash: await hashPassword(person.password),
      auth_epoch: 0,
      created_at: now(),
      disabled_at: null,
    }
    return { row, change: insert("users", row) }
  }

  /** The settings row is the lock: of two first admins, on any number of servers, one is refused by its key. */
  async function createFirstAdmin(person: { email: string; name: string; password: string }): Promise<Person> {
    if ((await db.user.count()) > 0) throw new AppError("FORBIDDEN", "The first admin exists already. Ask them for an invitation.", {})
    const { row, change } = await userRow({ ...person, role: "admin" })
    try {
      await journal.write([insert("settings", { key: "first_admin", value: row.id }), change])
    } catch (error) {
      if (error instanceof StoreRefused) throw new AppError("FORBIDDEN", "The first admin exists already. Ask them for an invitation.", {})
      throw error
    }
    return toPerson(row)
  }

  async function verifySignIn(email: string, password: string): Promise<Person | null> {
    const user = await db.user.findUnique({ where: { email } })
    const matches = await passwordMatches(user?.password_hash ?? (await decoyHash()), password)
    return user && matches && user.disabled_at === null ? toPerson(user) : null
  }

  async function invite(by: Person | null, invitation: { email: string; role: Role }): Promise<{ code: string }> {
    if (await db.user.findUnique({ where: { email: invitation.email } }))
      throw new AppError("CONFLICT", "There is a user with that address already.", {})
    const code = newSecret("inv")
    await journal.write([
      insert("invitations", {
        id: ids.invitation(),
        email: invitation.email,
        role: invitation.role,
        code_sha256: sha256(code),
        created_by: by?.id ?? null,
        created_at: now(),
        expires_at: new Date(clock.now().getTime() + INVITATION_DAYS * 86_400_000).toISOString(),
        accepted_at: null,
      }),
    ])
    return { code }
  }

  async function acceptInvitation(code: string, person: { name: string; password: string }): Promise<Person> {
    const refused = () => new AppError("NOT_FOUND", "This invitation does not exist, was used, or has expired.", { entity: "invitation" })
    const invitation = await db.invitation.findUnique({ where: { code_sha256: sha256(code) } })
    if (!invitation || invitation.accepted_at || invitation.expires_at <= now()) throw refused()
    const { row, change } = await userRow({ email: invitation.email, role: invitation.role as Role, ...person })
    try {
      await journal.write([update("invitations", { id: invitation.id, accepted_at: null }, { accepted_at: now() }), change])
    } catch (error) {
      if (isConflict(error) || error instanceof StoreRefused) throw refused()
      throw error
    }
    return toPerson(row)
  }

  async function changePassword(person: Person, current: string, next: string): Promise<void> {
    const user = await db.user.findUniqueOrThrow({ where: { id: person.id } })
    if (!(await passwordMatches(user.password_hash, current))) throw new AppError("FORBIDDEN", "The current password is wrong.", {})
    // The epoch ends every other browser's sign-in: a changed password must shut out whoever had the old one.
    await journal.write([
      update("users", { id: user.id, auth_epoch: user.auth_epoch }, { password_hash: await hashPassword(next), auth_epoch: { inc: 1 } }),
    ])
  }

  async function change(by: Person, id: string, to: { role?: Role | undefined; disabled?: boolean | undefined }): Promise<void> {
    if (id === by.id) throw new AppError("FORBIDDEN", "You cannot change your own role or disable yourself.", {})
    const user = await db.user.findUnique({ where: { id } })
    if (!user) throw new AppError("NOT_FOUND", "There is no such user.", { entity: "user" })
    const disabled_at = to.disabled === undefined ? user.disabled_at : to.disabled ? (user.disabled_at ?? now()) : null
    await journal.write([update("users", { id }, { role: to.role ?? user.role, disabled_at, auth_epoch: { inc: to.disabled ? 1 : 0 } })])
  }

  return {
    createFirstAdmin,
    verifySignIn,
    invite,
    acceptInvitation,
    changePassword,
    change,
    any: async () => (await db.user.count()) > 0,
    several: async () => (await db.user.count({ where: { disabled_at: null } })) > 1,
    byId: async (id: string) => {
      const user = await db.user.findUnique({ where: { id } })
      return user && user.disabled_at === null ? toPerson(user) : null
    },
    byEmail: async (email: string) => {
      const user = await db.user.findUnique({ where: { email } })
      return user && user.disabled_at === null ? toPerson(user) : null
    },
    list: async () => {
      const users = await db.user.findMany({ orderBy: { created_at: "asc" } })
      return users.map(({ id, email, name, role, created_at, disabled_at }) => ({ id, email, name, role, created_at, disabled_at }))
    },
  }
}
export type People = ReturnType<typeof createPeople>

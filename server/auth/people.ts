import { AppError } from "../../lib/contracts/errors"
import type { UserView } from "../../lib/contracts/people"
import type { Role } from "../../lib/contracts/task"
import { type Change, guard, insert, isConflict, type Journal, StoreRefused, update, updateAny } from "../journal"
import type { Clock } from "../platform/clock"
import type { Database, User } from "../platform/database"
import { ids } from "../platform/ids"
import type { Passwords } from "./passwords"
import { endSignIns, liveSignIns } from "./sign-ins"

export type Person = { id: string; email: string; name: string; role: Role }
export const toPerson = ({ id, email, name, role }: User): Person => ({ id, email, name, role: role as Role })

export type PeopleDeps = { db: Database; journal: Journal; clock: Clock; passwords: Passwords }
export type NewUser = { email: string; name: string; role: Role; password: string | null }

const FIRST_ADMIN = "first_admin"
const firstAdminExists = () => new AppError("FORBIDDEN", "The first admin exists already. Ask them for an invitation.", {})

/** A user's row; who writes it decides together with what. */
export async function userRow({ clock, passwords }: Pick<PeopleDeps, "clock" | "passwords">, user: NewUser): Promise<User> {
  return {
    id: ids.user(),
    email: user.email,
    name: user.name,
    role: user.role,
    password_hash: user.password === null ? null : await passwords.hash(user.password),
    created_at: clock.now().toISOString(),
    disabled_at: null,
  }
}

/** Everything that would still let somebody in, or let them let others in, after their rights were taken away. */
const revokeEverythingOf = (userId: string, at: string): Change[] => [
  updateAny("api_tokens", { user_id: userId, revoked_at: null }, { revoked_at: at }),
  updateAny("invitations", { created_by: userId, accepted_at: null, revoked_at: null }, { revoked_at: at }),
  updateAny("password_resets", { created_by: userId, ended_at: null }, { ended_at: at }),
  updateAny("password_resets", { user_id: userId, ended_at: null }, { ended_at: at }),
]

export function createPeople(deps: PeopleDeps) {
  const { db, journal, clock, passwords } = deps
  const now = () => clock.now().toISOString()
  const notThere = () => new AppError("NOT_FOUND", "There is no such user.", { entity: "user" })

  /** The settings row is the lock: of two first admins, on any number of servers, one is refused by its key. */
  async function createFirstAdmin(
    user: { email: string; name: string; password: string },
    alongside: (person: Person) => Change[] = () => [],
  ): Promise<Person> {
    if ((await db.user.count()) > 0) throw firstAdminExists()
    const row = await userRow(deps, { ...user, role: "admin" })
    try {
      await journal.write([insert("settings", { key: FIRST_ADMIN, value: row.id }), insert("users", row), ...alongside(toPerson(row))])
    } catch (error) {
      if (error instanceof StoreRefused) throw firstAdminExists()
      throw error
    }
    return toPerson(row)
  }

  async function create(by: Person, user: NewUser, alongside: (person: Person) => Change[]): Promise<UserView> {
    const row = await userRow(deps, user)
    try {
      await journal.write([stillAdmin(by), insert("users", row), ...alongside(toPerson(row))])
    } catch (error) {
      if (error instanceof StoreRefused) throw new AppError("CONFLICT", "There is a user with that address already.", {})
      throw isConflict(error) ? noLongerAdmin() : error
    }
    return toView(row, { sign_ins: 0, last_seen_at: null })
  }

  /** For what must not be done by whoever found a browser open. An account without a password has nothing to say here. */
  async function confirmPassword(person: Person, password: string): Promise<User> {
    const user = await db.user.findUniqueOrThrow({ where: { id: person.id } })
    if (user.password_hash !== null && !(await passwords.matches(user.password_hash, password)))
      throw new AppError("FORBIDDEN", "The current password is wrong.", {})
    return user
  }

  /** Ends the user's other sign-ins with it: a changed password must shut out whoever had the old one. */
  async function changePassword(
    person: Person,
    change: { current: string; next: string; revoke_tokens: boolean },
    keep: string | null,
    alongside: Change[],
  ): Promise<void> {
    const user = await confirmPassword(person, change.current)
    if (user.password_hash === null) throw new AppError("FORBIDDEN", "This account has no password: you sign in at your provider.", {})
    const password_hash = await passwords.hash(change.next)
    const at = now()
    try {
      await journal.write([
        update("users", { id: user.id, password_hash: user.password_hash }, { password_hash }),
        ...endSignIns(user.id, keep, at),
        updateAny("password_resets", { user_id: user.id, ended_at: null }, { ended_at: at }),
        ...(change.revoke_tokens ? [updateAny("api_tokens", { user_id: user.id, revoked_at: null }, { revoked_at: at })] : []),
        ...alongside,
      ])
    } catch (error) {
      if (isConflict(error)) throw new AppError("CONFLICT", "The password was changed a moment ago. Try again.", {})
      throw error
    }
  }

  /**
   * Changes a role, disables or enables. Whoever loses rights loses with them, in the same commit, whatever would keep them:
   * tokens, invitations and reset links they made, and when disabled their sign-ins. Says whether rights were lost.
   */
  async function change(
    by: Person,
    id: string,
    to: { role?: Role | undefined; disabled?: boolean | undefined },
    alongside: (before: User) => Change[],
  ): Promise<{ lostRights: boolean }> {
    if (id === by.id) throw new AppError("FORBIDDEN", "You cannot change your own role or disable yourself.", {})
    for (;;) {
      const user = await db.user.findUnique({ where: { id } })
      if (!user) throw notThere()
      const demoted = user.role === "admin" && to.role === "user"
      const disabled = to.disabled === true && user.disabled_at === null
      const lostRights = demoted || disabled
      const isLastAdmin = lostRights && (await db.user.count({ where: { ...ENABLED_ADMIN, id: { not: id } } })) === 0
      if (isLastAdmin) throw new AppError("CONFLICT", "This is the last admin. Make somebody else an admin first.", {})
      const at = now()
      const disabled_at = to.disabled === undefined ? user.disabled_at : to.disabled ? (user.disabled_at ?? at) : null
      try {
        await journal.write([
          ...(lostRights ? lockAdmins : []),
          stillAdmin(by),
          ...(lostRights ? [guard("users", { ...ENABLED_ADMIN, id: { not: id } })] : []),
          update("users", { id, role: user.role, disabled_at: user.disabled_at }, { role: to.role ?? user.role, disabled_at }),
          ...(lostRights ? revokeEverythingOf(id, at) : []),
          ...(disabled ? endSignIns(id, null, at) : []),
          ...alongside(user),
        ])
        return { lostRights }
      } catch (error) {
        if (!isConflict(error)) throw error
        const me = await db.user.findUnique({ where: { id: by.id } })
        if (me?.role !== "admin" || me.disabled_at !== null) throw noLongerAdmin()
      }
    }
  }

  const enabled = (user: User | null) => (user && user.disabled_at === null ? toPerson(user) : null)

  return {
    createFirstAdmin,
    create,
    confirmPassword,
    changePassword,
    change,
    any: async () => (await db.user.count()) > 0,
    byId: async (id: string) => enabled(await db.user.findUnique({ where: { id } })),
    byEmail: async (email: string) => enabled(await db.user.findUnique({ where: { email } })),
    require: async (id: string): Promise<Person> => {
      const user = await db.user.findUnique({ where: { id } })
      if (!user) throw notThere()
      return toPerson(user)
    },
    hasPassword: async (id: string) => (await db.user.findUnique({ where: { id } }))?.password_hash != null,
    list: async (): Promise<UserView[]> => {
      const [users, signIns] = await Promise.all([
        db.user.findMany({ orderBy: { created_at: "asc" } }),
        db.signIn.groupBy({
          by: ["user_id"],
          where: liveSignIns(clock.now()),
          _count: true,
          _max: { last_seen_at: true },
        }),
      ])
      const of = new Map(signIns.map((group) => [group.user_id, { sign_ins: group._count, last_seen_at: group._max.last_seen_at }]))
      return users.map((user) => toView(user, of.get(user.id) ?? { sign_ins: 0, last_seen_at: null }))
    },
  }
}
export type People = ReturnType<typeof createPeople>

const ENABLED_ADMIN = { role: "admin", disabled_at: null }
/** On PostgreSQL two servers might each take the other's admin for the one that stays; this row makes them take turns. */
const lockAdmins = [updateAny("settings", { key: FIRST_ADMIN }, { key: FIRST_ADMIN })]
/** Rights are looked at again in the commit that uses them. */
export const stillAdmin = (by: Person) => guard("users", { ...ENABLED_ADMIN, id: by.id })
export const noLongerAdmin = () => new AppError("FORBIDDEN", "You are no longer an admin.", {})

const toView = (user: User, seen: Pick<UserView, "sign_ins" | "last_seen_at">): UserView => ({
  ...toPerson(user),
  ...{ created_at: user.created_at, disabled_at: user.disabled_at, has_password: user.password_hash !== null },
  ...seen,
})

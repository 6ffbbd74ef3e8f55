import { AppError } from "../../lib/contracts/errors"
import type { ServerSettings } from "../../lib/contracts/people"
import { type Change, insert, type Journal, remove } from "../journal"
import type { Database } from "../platform/database"
import type { Person } from "./people"

const KEY = "standalone_for_users"
const REFUSAL =
  "Only admins may run agents and terminals on this machine, because they run with the rights of the server's own account. An admin can allow it for users on the Users page."

/** Standalone gives an agent the server's own rights, so that by default it is the admins' only. Pure. */
const mayRunStandalone = (user: { role: string; disabled_at: string | null }, settings: ServerSettings): boolean =>
  user.disabled_at === null && (user.role === "admin" || settings.standalone_for_users)

/** Who may start or write something in which runtime; asked wherever something starts or writes. */
export function createRuntimeAccess({ db, journal }: { db: Database; journal: Journal }) {
  async function settings(): Promise<ServerSettings> {
    const row = await db.setting.findUnique({ where: { key: KEY } })
    return { standalone_for_users: row?.value === "true" }
  }
  /** By the row as it is now: a socket's idea of its user may be older than the user's role. */
  async function isAllowed(userId: string, runtime: string): Promise<boolean> {
    const user = await db.user.findUnique({ where: { id: userId } })
    return user !== null && runtime === "standalone" && mayRunStandalone(user, await settings())
  }
  return {
    settings,
    isAllowed,
    async change(to: Partial<ServerSettings>, alongside: Change[]): Promise<ServerSettings> {
      const next = { ...(await settings()), ...to }
      await journal.write([
        remove("settings", { key: KEY }),
        insert("settings", { key: KEY, value: String(next.standalone_for_users) }),
        ...alongside,
      ])
      return next
    },
    async of(person: Person): Promise<{ allowed: boolean; reason: string | null }> {
      const allowed = await isAllowed(person.id, "standalone")
      return { allowed, reason: allowed ? null : REFUSAL }
    },
    async require(person: Person, runtime: string): Promise<void> {
      if (runtime !== "standalone")
        throw new AppError("INVALID_INPUT", `The ${runtime} runtime is not set up on this server.`, {
          issues: [`runtime: ${runtime} is not available`],
        })
      if (!(await isAllowed(person.id, runtime))) throw new AppError("FORBIDDEN", REFUSAL, {})
    },
  }
}
export type RuntimeAccess = ReturnType<typeof createRuntimeAccess>

import { AppError, isAppError } from "../../lib/contracts/errors"
import type { IdentityView } from "../../lib/contracts/people"
import { Email } from "../../lib/contracts/task"
import { type Change, guard, insert, isConflict, remove, StoreRefused } from "../journal"
import { ids } from "../platform/ids"
import type { Invitations } from "./invitations"
import { type PeopleDeps, type Person, toPerson, userRow } from "./people"

/** What a provider says of whoever signed in there. Issuer and subject are the account; the rest is only said. */
type Claims = { issuer: string; subject: string; email: string | null; email_verified: boolean; name: string }
/** What the browser was about to do when it went to the provider; only the browser that began it has this. */
export type Intent = { kind: "connect"; user_id: string } | { kind: "invitation"; code: string }
/** Words of the sign-in page; see components/account. */
type OidcRefusal = "NO_INVITATION" | "EMAIL_NOT_VERIFIED" | "ACCOUNT_EXISTS" | "DISABLED"
type Joined = "invitation" | "domain" | "connected"
/** The entries of the security log for a first sign-in, written in the commit that makes the account or connects it. */
type Alongside = (joined: Joined, person: Person) => Change[]
type Resolved = { person: Person } | { refused: OidcRefusal }

/** Accounts at an OpenID Connect provider, and whose accounts here they are. */
export function createIdentities(deps: PeopleDeps & { invitations: Invitations; domains: readonly string[] }) {
  const { db, journal, clock, invitations } = deps
  const identityOf = (userId: string, { issuer, subject, email }: Claims): Change =>
    insert("identities", { id: ids.identity(), issuer, subject, user_id: userId, email, created_at: clock.now().toISOString() })

  /**
   * Whose account this is. A first sign-in needs an open invitation, or a verified address of a listed domain; it never joins an
   * account that exists because the addresses are alike: whoever controls an address at the provider would get that account.
   */
  async function resolve(claims: Claims, intent: Intent | null, signedIn: Person | null, alongside: Alongside): Promise<Resolved> {
    const { issuer, subject } = claims
    const known = await db.identity.findUnique({ where: { issuer_subject: { issuer, subject } } })
    if (known) {
      const user = await db.user.findUnique({ where: { id: known.user_id } })
      if (!user || user.disabled_at !== null) return { refused: "DISABLED" }
      if (intent?.kind === "connect" && intent.user_id !== user.id) return { refused: "ACCOUNT_EXISTS" }
      return { person: toPerson(user) }
    }
    try {
      if (intent?.kind === "connect" && signedIn?.id === intent.user_id) {
        await journal.write([
          guard("users", { id: signedIn.id, disabled_at: null }),
          identityOf(signedIn.id, claims),
          ...alongside("connected", signedIn),
        ])
        return { person: signedIn }
      }
      return await join(claims, intent, alongside)
    } catch (error) {
      // Two tabs of the same first sign-in: the other one was first, or the invitation was taken back in this very moment.
      if (!(error instanceof StoreRefused) && !isConflict(error) && !isAppError(error)) throw error
      const joined = await db.identity.findUnique({ where: { issuer_subject: { issuer, subject } } })
      const user = joined && (await db.user.findUnique({ where: { id: joined.user_id } }))
      return user && user.disabled_at === null
        ? { person: toPerson(user) }
        : { refused: isAppError(error) ? "NO_INVITATION" : "ACCOUNT_EXISTS" }
    }
  }

  async function join(claims: Claims, intent: Intent | null, alongside: Alongside): Promise<Resolved> {
    const address = Email.safeParse(claims.email)
    const email = address.success ? address.data : null
    const byCode = intent?.kind === "invitation" ? await invitations.byCode(intent.code) : null
    const byAddress = email ? await invitations.forAddress(email) : null
    const domainListed = email !== null && deps.domains.includes(email.slice(email.lastIndexOf("@") + 1))
    const invitation = byCode ?? (claims.email_verified ? byAddress : null)
    if (!invitation && !claims.email_verified && (byAddress || domainListed)) return { refused: "EMAIL_NOT_VERIFIED" }
    const joining = invitation?.email ?? email
    if (joining !== null && (await db.user.findUnique({ where: { email: joining } }))) return { refused: "ACCOUNT_EXISTS" }
    const name = claims.name.slice(0, 100)
    if (invitation) {
      const person = await invitations.accept(invitation, { name, password: null }, (made) => [
        identityOf(made.id, claims),
        ...alongside("invitation", made),
      ])
      return { person }
    }
    if (!domainListed || email === null) return { refused: "NO_INVITATION" }
    const row = await userRow(deps, { email, name, role: "user", password: null })
    const person = toPerson(row)
    await journal.write([insert("users", row), identityOf(row.id, claims), ...alongside("domain", person)])
    return { person }
  }

  return {
    resolve,
    async list(userId: string): Promise<IdentityView[]> {
      const rows = await db.identity.findMany({ where: { user_id: userId }, orderBy: { created_at: "asc" } })
      return rows.map(({ id, issuer, email, created_at }) => ({ id, issuer, email, created_at }))
    },
    /** Not the last way in: without a password and without this, nobody could use the account again. */
    async remove(userId: string, id: string, alongside: Change[]): Promise<void> {
      for (;;) {
        const own = await db.identity.findMany({ where: { user_id: userId } })
        if (!own.some((row) => row.id === id)) throw new AppError("NOT_FOUND", "There is no such connection.", { entity: "identity" })
        const { password_hash } = await db.user.findUniqueOrThrow({ where: { id: userId } })
        if (password_hash === null && own.length === 1)
          throw new AppError("CONFLICT", "This is your only way to sign in. Ask an admin for a password link first.", {})
        try {
          await journal.write([
            // The user's row is locked first: of two that are removed at once each would count on the other.
            guard("users", { id: userId, password_hash }),
            ...(password_hash === null ? [guard("identities", { user_id: userId, id: { not: id } })] : []),
            remove("identities", { id, user_id: userId }),
            ...alongside,
          ])
          return
        } catch (error) {
          if (!isConflict(error)) throw error
        }
      }
    },
  }
}
export type Identities = ReturnType<typeof createIdentities>

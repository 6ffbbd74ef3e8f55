import type { AuditEvent } from "../../lib/contracts/audit"
import type { Change, Journal } from "../journal"
import type { Database } from "../platform/database"
import type { Passwords } from "./passwords"
import { type Person, toPerson } from "./people"
import { LimitReached } from "./rate-limits"
import { sha256 } from "./secrets"
import type { SignInLimit } from "./sign-in-limit"
import type { SignIns } from "./sign-ins"

type Deps = { db: Database; journal: Journal; passwords: Passwords; signIns: SignIns; signInLimit: SignInLimit }
type Given = { email: string; password: string; address: string; user_agent: string; device: string | null }
type Told = { action: "sign_in.succeeded" | "sign_in.failed"; user: { id: string | null; email: string }; details: AuditEvent["details"] }
type Trail = { entry: (entry: Told & { outcome: "done" | "failed"; target?: string }) => Change }

/** Null: the address and the password do not belong together, or the account is disabled; which of these is nobody's business. */
export async function signInWithPassword(deps: Deps, given: Given, trail: Trail): Promise<{ person: Person; sign_in: string } | null> {
  const { db, journal, passwords, signIns, signInLimit } = deps
  const user = await db.user.findUnique({ where: { email: given.email } })
  const device_sha256 = given.device === null ? null : sha256(given.device)
  const known = user !== null && device_sha256 !== null && (await signIns.knowsDevice(user.id, device_sha256))
  const attempt = { email: given.email, address: given.address, device: known ? device_sha256 : null }
  const who = { id: user?.id ?? null, email: given.email }
  const failed = (reason: string) =>
    journal.write([trail.entry({ action: "sign_in.failed", outcome: "failed", user: who, details: { method: "password", reason } })])

  try {
    await signInLimit.count(attempt)
  } catch (error) {
    // Told once for each time the limit is reached: an entry for each further guess would be a way to fill the disk.
    if (error instanceof LimitReached && error.first) await failed("too many attempts")
    throw error
  }
  const matches = await passwords.matches(user?.password_hash ?? null, given.password, { first: known })
  if (!user || !matches || user.password_hash === null || user.disabled_at !== null) {
    await failed(user && matches ? "disabled" : "wrong address or password")
    return null
  }
  const person = toPerson(user)
  const { address, user_agent } = given
  const sign_in = await signIns.begin(
    person,
    { password_hash: user.password_hash },
    { method: "password", address, user_agent, device_sha256 },
    (id) => [trail.entry({ action: "sign_in.succeeded", outcome: "done", user: who, target: id, details: { method: "password" } })],
  )
  if (sign_in === null) return null
  await signInLimit.succeeded(attempt)
  return { person, sign_in }
}

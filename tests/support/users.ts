import type { Role } from "../../lib/contracts/task"
import type { Api, Rewake } from "./server"

export type TestUser = { id: string; email: string; password: string; token: string; api: Api }

let made = 0

/** A further user of a test server, with a password and a token. */
export async function createUser(rewake: Rewake, role: Role = "user"): Promise<TestUser> {
  const user = { email: `user${++made}@example.org`, password: `password of user ${made}` }
  const { status, body } = await rewake.api<{ id: string }>("POST", "/api/v1/admin/users", { ...user, role })
  if (status !== 201) throw new Error(`POST /admin/users: ${status} ${JSON.stringify(body)}`)
  const token = await rewake.issueToken(user.email)
  return { ...user, id: body.id, token, api: rewake.as(token) }
}

export const allowUsers = (rewake: Rewake, standalone_for_users: boolean) =>
  rewake.api("PATCH", "/api/v1/admin/settings", { standalone_for_users })
export const changeUser = (rewake: Rewake, id: string, change: { role?: Role; disabled?: boolean }) =>
  rewake.api("PATCH", "/api/v1/admin/users", { id, ...change })

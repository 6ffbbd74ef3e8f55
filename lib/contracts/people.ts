import { z } from "zod"
import { Email, Password, Role } from "./task"

/** Users, how they sign in, and what their programs may do. */

/** What a token may be used for. Each is given by itself: `write` does not include `read`. */
export const Scope = z.enum(["read", "write", "admin"])
export type Scope = z.infer<typeof Scope>

export const TOKEN_DAYS = 90
const TOKEN_DAYS_MAX = 366

export const ApiToken = z.object({
  id: z.string(),
  name: z.string(),
  scopes: z.array(Scope),
  created_at: z.string(),
  expires_at: z.string(),
  last_used_at: z.string().nullable(),
})
export type ApiToken = z.infer<typeof ApiToken>
export const CreateToken = z.object({
  name: z.string().trim().min(1).max(100),
  /** Unset: everything the caller may do. */
  scopes: z.array(Scope).min(1).optional(),
  days: z.number().int().min(1).max(TOKEN_DAYS_MAX).default(TOKEN_DAYS),
})
export type CreateToken = z.infer<typeof CreateToken>

export const SignInMethod = z.enum(["password", "oidc"])
export type SignInMethod = z.infer<typeof SignInMethod>
/** One browser that is signed in. */
export const SignInView = z.object({
  id: z.string(),
  method: SignInMethod,
  created_at: z.string(),
  /** Absolute: using it does not move this. */
  expires_at: z.string(),
  last_seen_at: z.string(),
  address: z.string(),
  /** The browser's own words, shortened. */
  user_agent: z.string(),
  current: z.boolean(),
})
export type SignInView = z.infer<typeof SignInView>

/** An account at an OpenID Connect provider that this user signs in with. */
export const IdentityView = z.object({ id: z.string(), issuer: z.string(), email: z.string().nullable(), created_at: z.string() })
export type IdentityView = z.infer<typeof IdentityView>

/** Said again, so that a browser left open is no way to connect a stranger's account; unset where the user has no password. */
export const ConnectIdentity = z.object({ current_password: z.string().max(256).optional() })

export const SignInMethods = z.object({
  /** The provider users may sign in with, by its host; null where none is set up. */
  oidc: z.object({ host: z.string() }).nullable(),
})
export type SignInMethods = z.infer<typeof SignInMethods>

export const ChangePassword = z.object({
  current_password: z.string().max(256),
  new_password: Password,
  /** Programs that use this user's tokens stop working. */
  revoke_tokens: z.boolean().default(true),
})
const name = z.string().trim().max(100).default("")
export const Setup = z.object({ code: z.string().max(200), email: Email, name, password: Password })
export const AcceptInvitation = z.object({ code: z.string().max(200), name, password: Password })
export const UsePasswordReset = z.object({ code: z.string().max(200), password: Password })
export const Joined = z.object({ email: z.string() })

export const UserView = z.object({
  id: z.string(),
  email: z.string(),
  name: z.string(),
  role: Role,
  created_at: z.string(),
  disabled_at: z.string().nullable(),
  /** Browsers signed in now, and when one of them was last used. */
  sign_ins: z.number().int(),
  last_seen_at: z.string().nullable(),
  has_password: z.boolean(),
})
export type UserView = z.infer<typeof UserView>
export const CreateUser = z.object({ email: Email, name, role: Role.default("user"), password: Password })
export const PatchUser = z.object({ id: z.string(), role: Role.optional(), disabled: z.boolean().optional() })

export const CreateInvitation = z.object({ email: Email, role: Role.default("user") })
export const InvitationView = z.object({
  id: z.string(),
  email: z.string(),
  role: Role,
  /** The admin's address; null for one made on the command line. */
  created_by: z.string().nullable(),
  created_at: z.string(),
  expires_at: z.string(),
})
export type InvitationView = z.infer<typeof InvitationView>
export const Link = z.object({ link: z.string() })

export const ServerSettings = z.object({
  /** Whether users who are no admins may run agents and terminals directly on the host. */
  standalone_for_users: z.boolean(),
})
export type ServerSettings = z.infer<typeof ServerSettings>

export const GitCredentialView = z.object({ host: z.string(), username: z.string(), updated_at: z.string() })
export type GitCredentialView = z.infer<typeof GitCredentialView>
export const GitHost = z
  .string()
  .trim()
  .toLowerCase()
  .regex(/^[a-z0-9]([a-z0-9.-]{0,250}[a-z0-9])?(:\d{1,5})?$/, "must be a host name, such as git.example.com")
const line = z.string().regex(/^\P{Cc}*$/u, "must not contain control characters")
export const PutGitCredential = z.object({ host: GitHost, username: line.min(1).max(255), secret: line.min(1).max(4096) })

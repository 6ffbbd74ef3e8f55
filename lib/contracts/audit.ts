import { z } from "zod"

/** The security log: who did what, from where. Nothing secret is in it, and nothing in it is ever changed. */

export const AuditAction = z.enum([
  "first_admin.created",
  "sign_in.succeeded",
  "sign_in.failed",
  "sign_in.ended",
  "password.changed",
  "password_reset.created",
  "password_reset.used",
  "identity.connected",
  "identity.removed",
  "token.created",
  "token.revoked",
  "user.created",
  "user.role_changed",
  "user.disabled",
  "user.enabled",
  "user.signed_out",
  "user.work_stopped",
  "invitation.created",
  "invitation.accepted",
  "invitation.revoked",
  "settings.changed",
  "agent.added",
  "agent.changed",
  "agent.removed",
  "agent.variable_changed",
  "agent.installed",
  "mcp_server.changed",
  "mcp_server.removed",
  "git_credential.changed",
  "git_credential.removed",
  "session.exported",
  "session.imported",
  "session.acted_on_by_admin",
  "archive.round_started",
  "audit.exported",
  "access.denied",
])
export type AuditAction = z.infer<typeof AuditAction>

export const AuditOutcome = z.enum(["done", "failed", "denied"])
export type AuditOutcome = z.infer<typeof AuditOutcome>

export const AuditEvent = z.object({
  id: z.string(),
  at: z.string(),
  action: AuditAction,
  outcome: AuditOutcome,
  /** Null: nobody was signed in, or the server did it by itself. */
  user_id: z.string().nullable(),
  /** The address as it was then, also of a failed sign-in. */
  user_email: z.string().nullable(),
  via: z.enum(["browser", "token", "command_line", "server", "anonymous"]),
  /** The sign-in or token that was used. */
  credential_id: z.string().nullable(),
  /** The network address; null on the command line. */
  address: z.string().nullable(),
  /** What it was done to: the id of a user, token, session, agent. */
  target: z.string().nullable(),
  details: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
})
export type AuditEvent = z.infer<typeof AuditEvent>

const filters = {
  action: AuditAction.optional(),
  outcome: AuditOutcome.optional(),
  /** Part of an address, of whoever did it. */
  user: z.string().max(200).optional(),
  since: z.iso.datetime().optional(),
  until: z.iso.datetime().optional(),
}
export const AuditExportQuery = z.object(filters)
export const AuditQuery = z.object({
  ...filters,
  cursor: z.string().optional(),
  limit: z.coerce.number().int().min(1).max(200).default(50),
})
export type AuditQuery = z.infer<typeof AuditQuery>
export const AuditPage = z.object({ items: z.array(AuditEvent), next_cursor: z.string().nullable() })
export type AuditPage = z.infer<typeof AuditPage>

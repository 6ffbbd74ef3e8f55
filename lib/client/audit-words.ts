import type { AuditAction, AuditEvent, AuditOutcome } from "@/lib/contracts/audit"

/** What the security log says; pure, so that one table of words serves table, cards, filters and tests. */
export const auditWords: Record<AuditAction, string> = {
  "first_admin.created": "First admin created",
  "sign_in.succeeded": "Signed in",
  "sign_in.failed": "Sign-in failed",
  "sign_in.ended": "Signed out",
  "password.changed": "Password changed",
  "password_reset.created": "Password reset link made",
  "password_reset.used": "Password reset by link",
  "identity.connected": "Provider account connected",
  "identity.removed": "Provider account disconnected",
  "token.created": "API token created",
  "token.revoked": "API token revoked",
  "user.created": "User created",
  "user.role_changed": "Role changed",
  "user.disabled": "User disabled",
  "user.enabled": "User enabled",
  "user.signed_out": "User signed out everywhere",
  "user.work_stopped": "User's agents and terminals stopped",
  "invitation.created": "Invitation created",
  "invitation.accepted": "Invitation accepted",
  "invitation.revoked": "Invitation revoked",
  "settings.changed": "Server settings changed",
  "agent.added": "Agent added",
  "agent.changed": "Agent changed",
  "agent.removed": "Agent removed",
  "agent.variable_changed": "Agent's key changed",
  "agent.installed": "Agent installed",
  "mcp_server.changed": "MCP server changed",
  "mcp_server.removed": "MCP server removed",
  "git_credential.changed": "Git credential saved",
  "git_credential.removed": "Git credential removed",
  "session.exported": "Session exported",
  "session.imported": "Session imported",
  "session.acted_on_by_admin": "Session resumed or stopped by an admin",
  "archive.round_started": "Archiving started",
  "audit.exported": "Security log exported",
  "access.denied": "Access denied",
}
export const AUDIT_ACTIONS = Object.keys(auditWords) as AuditAction[]
export const isAuditAction = (text: string | null): text is AuditAction => text !== null && Object.hasOwn(auditWords, text)

export const outcomeWords: Record<AuditOutcome, string> = { done: "Done", failed: "Failed", denied: "Denied" }
export const AUDIT_OUTCOMES = Object.keys(outcomeWords) as AuditOutcome[]
export const isAuditOutcome = (text: string | null): text is AuditOutcome => text !== null && Object.hasOwn(outcomeWords, text)

export const viaWords: Record<AuditEvent["via"], string> = {
  browser: "Browser",
  token: "API token",
  command_line: "Command line",
  server: "Server",
  anonymous: "Not signed in",
}

/** Who did it, as far as that is known. */
export const auditUser = ({ user_email, via }: Pick<AuditEvent, "user_email" | "via">): string =>
  user_email ?? (via === "server" ? "the server" : via === "command_line" ? "command line" : "nobody signed in")

/** "role: admin, before: user"; what is null is left out. */
export const auditDetails = ({ details }: Pick<AuditEvent, "details">): string =>
  Object.entries(details)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name.replaceAll("_", " ")}: ${value === true ? "yes" : value === false ? "no" : value}`)
    .join(", ")

/** Days of the reader's own calendar, both included; an empty text is no limit. */
export function auditSpan(since: string, until: string): { since: string | undefined; until: string | undefined } {
  return { since: startOf(since, 0), until: startOf(until, 1) }
}

function startOf(date: string, daysLater: number): string | undefined {
  const parts = /^(\d{4,6})-(\d{2})-(\d{2})$/.exec(date)
  if (!parts) return undefined
  const moment = new Date(Number(parts[1]), Number(parts[2]) - 1, Number(parts[3]) + daysLater)
  // Of a year beyond four digits the server would refuse the form.
  return moment.getFullYear() > 9999 ? undefined : moment.toISOString()
}

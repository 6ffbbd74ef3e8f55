import { z } from "zod"
import { AdminAct, AdminArchives, AdminExecutor, AdminSessions, AdminSessionsQuery, ArchiveRun, Recovery } from "../admin"
import { AuditExportQuery, AuditPage, AuditQuery } from "../audit"
import { CreateInvitation, CreateUser, InvitationView, Link, PatchUser, ServerSettings, UserView } from "../people"
import type { Call } from "./call"

const OfUser = z.object({ userId: z.string() })
const itemsOf = <T extends z.ZodType>(item: T) => z.object({ items: z.array(item) })

export const adminCalls = {
  "GET /api/v1/admin/users": { summary: "List users", access: "admin", status: 200, answer: itemsOf(UserView) },
  "POST /api/v1/admin/users": {
    summary: "Create a user with a password",
    access: "admin",
    body: CreateUser,
    status: 201,
    answer: UserView,
    errors: ["CONFLICT"],
    limit: "credential",
    audit: "user.created",
  },
  "PATCH /api/v1/admin/users": {
    summary: "Change a role, disable or enable a user",
    access: "admin",
    body: PatchUser,
    status: 204,
    errors: ["NOT_FOUND", "CONFLICT"],
  },
  "POST /api/v1/admin/users/{userId}/password-reset": {
    summary: "Make a link with which the user sets a new password",
    access: "admin",
    params: OfUser,
    status: 201,
    answer: Link,
    limit: "credential",
    audit: "password_reset.created",
  },
  "POST /api/v1/admin/users/{userId}/sign-out": {
    summary: "Sign the user out of every browser",
    access: "admin",
    params: OfUser,
    status: 204,
    audit: "user.signed_out",
  },
  "GET /api/v1/admin/invitations": {
    summary: "List invitations that can still be accepted",
    access: "admin",
    status: 200,
    answer: itemsOf(InvitationView),
  },
  "POST /api/v1/admin/invitations": {
    summary: "Create an invitation; its link is shown once",
    access: "admin",
    body: CreateInvitation,
    status: 201,
    answer: Link,
    errors: ["CONFLICT"],
    limit: "credential",
    audit: "invitation.created",
  },
  "DELETE /api/v1/admin/invitations": {
    summary: "Revoke an invitation",
    access: "admin",
    query: z.object({ id: z.string() }),
    status: 204,
    errors: ["NOT_FOUND"],
    audit: "invitation.revoked",
  },
  "GET /api/v1/admin/settings": { summary: "Get the server's settings", access: "admin", status: 200, answer: ServerSettings },
  "PATCH /api/v1/admin/settings": {
    summary: "Change the server's settings",
    access: "admin",
    body: ServerSettings.partial(),
    status: 200,
    answer: ServerSettings,
    audit: "settings.changed",
  },
  "GET /api/v1/admin/audit": {
    summary: "Read the security log, newest first",
    access: "admin",
    query: AuditQuery,
    status: 200,
    answer: AuditPage,
  },
  "GET /api/v1/admin/audit/export": {
    summary: "Download the security log as lines of JSON, oldest first",
    access: "admin",
    query: AuditExportQuery,
    status: 200,
    answer: "bytes",
    limit: "heavy",
    audit: "audit.exported",
  },
  "GET /api/v1/admin/sessions": {
    summary: "List every session",
    access: "admin",
    query: AdminSessionsQuery,
    status: 200,
    answer: AdminSessions,
  },
  "POST /api/v1/admin/sessions": {
    summary: "Resume or stop a session",
    access: "admin",
    body: AdminAct,
    status: 202,
    answer: z.object({ session_id: z.string() }),
    errors: ["NOT_FOUND", "CONFLICT"],
    audit: "session.acted_on_by_admin",
  },
  "GET /api/v1/admin/recoveries": {
    summary: "List what each boot found and did",
    access: "admin",
    status: 200,
    answer: itemsOf(Recovery),
  },
  "GET /api/v1/admin/archives": {
    summary: "List archives, and what is due to be archived",
    access: "admin",
    status: 200,
    answer: AdminArchives,
  },
  "POST /api/v1/admin/archives/run": {
    summary: "Archive expired executors now",
    access: "admin",
    status: 202,
    answer: ArchiveRun,
    audit: "archive.round_started",
  },
  "GET /api/v1/admin/executors": { summary: "List executors", access: "admin", status: 200, answer: itemsOf(AdminExecutor) },
} satisfies Record<string, Call>

import { expect, test } from "vitest"
import { AUDIT_ACTIONS, auditDetails, auditSpan, auditUser } from "@/lib/client/audit-words"
import { AuditAction, AuditExportQuery } from "@/lib/contracts/audit"

test("every action has its words", () => {
  expect([...AUDIT_ACTIONS].sort()).toEqual([...AuditAction.options].sort())
})

test("details are one line of names and values, without what is null", () => {
  expect(auditDetails({ details: { role: "admin", standalone_for_users: false, count: 2, before: null } })).toBe(
    "role: admin, standalone for users: no, count: 2",
  )
  expect(auditDetails({ details: {} })).toBe("")
})

test("whoever did it is named by address, else by the way it came", () => {
  expect(auditUser({ user_email: "a@example.org", via: "token" })).toBe("a@example.org")
  expect(auditUser({ user_email: null, via: "server" })).toBe("the server")
  expect(auditUser({ user_email: null, via: "anonymous" })).toBe("nobody signed in")
})

test("a span of days begins with the first and ends with the last, in the reader's own time", () => {
  const { since, until } = auditSpan("2025-03-01", "2025-03-01")
  expect(new Date(since ?? "").toString()).toBe(new Date(2025, 2, 1).toString())
  expect(new Date(until ?? "").toString()).toBe(new Date(2025, 2, 2).toString())
  expect(AuditExportQuery.safeParse({ since, until }).success).toBe(true)
  expect(auditSpan("", "20")).toEqual({ since: undefined, until: undefined })
})

import type { z } from "zod"
import type { AuditAction } from "../audit"
import type { ErrorCode } from "../errors"
import type { Scope } from "../people"

/**
 * One call of the API. Routes, the published document, the browser's client and the tests of permissions read the same entry, so
 * that what is published is what is checked.
 */
export type Call = {
  summary: string
  access: Access
  params?: z.ZodType
  query?: z.ZodType
  body?: z.ZodType
  /** The body is bytes of this kind, read as they arrive. */
  upload?: string
  status: number
  /** JSON; `bytes`: something else, such as a file. */
  answer?: z.ZodType | "bytes"
  /** Beyond those every call of its kind may answer; see `errorsOf`. */
  errors?: readonly ErrorCode[]
  /** Unset: `ordinary`. */
  limit?: LimitName
  /** The name under which it stands in the security log. */
  audit?: AuditAction
}

/**
 * Who may call. `runner`: a user, for something that starts or writes in the place a session runs in; refused to users who may not
 * run anything there, while they can still read what is theirs.
 */
export type Access = "anyone" | "user" | "runner" | "admin"

/** How many calls are taken in a time, of each user, or of each address where nobody is signed in. */
export const LIMITS = {
  ordinary: { calls: 12_000, seconds: 60 },
  /** Reads or writes much at once. */
  heavy: { calls: 120, seconds: 60 },
  /** Makes something that lets somebody in. */
  credential: { calls: 60, seconds: 60 },
  /** Open to anybody: guesses are counted. */
  guess: { calls: 30, seconds: 300 },
} as const
export type LimitName = keyof typeof LIMITS

/** What a token must be allowed for this call. */
export function scopeOf(method: string, { access }: Pick<Call, "access">): Scope {
  if (access === "admin") return "admin"
  return method === "GET" ? "read" : "write"
}

/** Every error a call may answer: its own, and those that follow from its shape. */
export function errorsOf(call: Call): ErrorCode[] {
  const codes: ErrorCode[] = [...(call.errors ?? []), "RATE_LIMITED", "NOT_READY", "STORAGE_FULL", "DATABASE_UNAVAILABLE", "INTERNAL"]
  if (call.access !== "anyone") codes.push("UNAUTHENTICATED", "FORBIDDEN")
  if (call.params) codes.push("NOT_FOUND")
  if (call.params || call.query || call.body) codes.push("INVALID_INPUT")
  if (call.body || call.upload) codes.push("PAYLOAD_TOO_LARGE", "REQUEST_TIMEOUT")
  return [...new Set(codes)]
}
